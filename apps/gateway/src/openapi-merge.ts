/** The part of an OpenAPI 3.1 document that merging looks at; everything else travels along untouched. */
export interface OpenApiDocument {
  openapi: string;
  info: Record<string, unknown>;
  paths?: Record<string, Record<string, unknown>>;
  components?: Record<string, Record<string, unknown>>;
  tags?: { name: string; description?: string }[];
  [extension: string]: unknown;
}

/**
 * One document of the documents of all modules. Components that two modules define alike are kept once;
 * those they define differently get the module's name in front, and the references follow; so does every operation.
 */
export function mergeOpenApi(
  info: Record<string, unknown>,
  documents: readonly (readonly [module: string, document: OpenApiDocument])[],
): OpenApiDocument {
  const merged: OpenApiDocument = { openapi: '3.1.0', info, paths: {}, components: {}, tags: [] };
  for (const [module, original] of documents) {
    const document = renameClashes(module, original, merged);
    Object.assign(merged.paths as object, document.paths);
    for (const [kind, entries] of Object.entries(document.components ?? {})) {
      (merged.components as Record<string, object>)[kind] = { ...merged.components?.[kind], ...entries };
    }
    for (const tag of document.tags ?? []) {
      if (!merged.tags?.some(({ name }) => name === tag.name)) merged.tags?.push(tag);
    }
  }
  return merged;
}

function renameClashes(module: string, document: OpenApiDocument, merged: OpenApiDocument): OpenApiDocument {
  const renamed = new Map<string, string>();
  for (const [kind, entries] of Object.entries(document.components ?? {})) {
    const present = merged.components?.[kind] ?? {};
    for (const [name, value] of Object.entries(entries)) {
      if (name in present && JSON.stringify(present[name]) !== JSON.stringify(value)) {
        renamed.set(`#/components/${kind}/${name}`, `#/components/${kind}/${capitalize(module)}${name}`);
      }
    }
  }
  const text = JSON.stringify(document, (key, value: unknown) => {
    if (typeof value !== 'string') return value;
    if (key === 'operationId') return `${module}.${value}`; // unique in a module only
    return key === '$ref' ? (renamed.get(value) ?? value) : value;
  });
  const copy = JSON.parse(text) as OpenApiDocument;
  for (const [from, to] of renamed) {
    const [, , kind = '', name = ''] = from.split('/');
    const entries = copy.components?.[kind];
    if (entries === undefined) continue;
    entries[to.split('/')[3] as string] = entries[name];
    delete entries[name];
  }
  return copy;
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
