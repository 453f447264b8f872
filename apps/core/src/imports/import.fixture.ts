import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, expectStatus, type Answer, type Caller } from '@customer-platform/testing';
import type { ImportDto, ImportErrorDto } from './import.dto.js';

/** The collection. */
export const IMPORTS = '/v1/core/imports';

/** A part of a multipart body: a field, or a file. */
type Part = readonly [name: string, content: string | Uint8Array<ArrayBuffer>];

/** A mapping that most files of tests have. */
export const MAPPING = { id: 'external_id', mail: 'email', name: 'first_name' };

/** Sends a multipart body of these parts, in their order. */
export async function sendParts<T = ImportDto>(
  caller: Caller,
  parts: readonly Part[],
  headers: Record<string, string> = {},
): Promise<Answer<T>> {
  const form = new FormData();
  for (const [name, content] of parts) {
    if (name === 'options' && typeof content === 'string') form.append(name, content);
    else form.append(name, new Blob([content]), 'contacts.csv');
  }
  const body = new Response(form);
  const bytes = new Uint8Array(await body.arrayBuffer());
  const type = body.headers.get('content-type') ?? '';
  return caller.call<T>('POST', IMPORTS, { bytes, headers: { 'content-type': type, ...headers } });
}

/** Sends a file, mapped as {@link MAPPING} unless told. */
export function send<T = ImportDto>(
  caller: Caller,
  file: string | Uint8Array<ArrayBuffer>,
  options: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Answer<T>> {
  const complete = JSON.stringify({ mapping: MAPPING, ...options });
  return sendParts<T>(
    caller,
    [
      ['options', complete],
      ['file', file],
    ],
    headers,
  );
}

/** The import as it is when it has ended. */
export function ended(caller: Caller, { id }: { id: string }, within = 60_000): Promise<ImportDto> {
  return eventually(
    async () => {
      const answer = await caller.get<ImportDto>(`${IMPORTS}/${id}?limit=200`);
      expectStatus(answer, 200);
      expect(['completed', 'failed']).toContain(answer.body.state);
      return answer.body;
    },
    { within },
  );
}

/** Sends a file, and answers the import when it has ended. */
export async function imported(
  caller: Caller,
  file: string | Uint8Array<ArrayBuffer>,
  options: Record<string, unknown> = {},
): Promise<ImportDto> {
  const answer = await send(caller, file, options);
  expectStatus(answer, 202);
  return ended(caller, answer.body);
}

/** Lines of CSV with their ends. */
export function lines(...rows: readonly string[]): string {
  return rows.map((row) => `${row}\n`).join('');
}

/** What a test looks at of errors. */
export function told(errors: { data: ImportErrorDto[] }): string[] {
  return errors.data.map(({ line, column, code }) => `${line} ${column ?? '-'} ${code}`);
}

/** A folder for files of imports, and what removes it. */
export async function aFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'imports-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
