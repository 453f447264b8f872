import { pointerToken } from '@customer-platform/http';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import type { MergeContactsDto } from './merge.dto.js';
import { MERGED_FIELDS, type Side } from './merge-fields.js';

/** Two contacts to merge. */
export interface MergeRequest {
  readonly survivorId: string;
  readonly mergedId: string;
  readonly keep: Readonly<Record<string, Side>>;
  readonly reason: string | null;
  readonly dryRun: boolean;
}

/** A merge to undo. */
export interface UndoRequest {
  readonly mergeId: string;
  readonly reason: string | null;
  readonly dryRun: boolean;
}

/**
 * Which of the two a body asks for.
 * @throws Problem `validation_failed` with every error at once
 */
export function readMergeRequest(body: MergeContactsDto): MergeRequest | UndoRequest {
  const { undo_merge_id: mergeId, survivor_id: survivorId, merged_id: mergedId, keep = {} } = body;
  const common = { reason: body.reason ?? null, dryRun: body.dry_run ?? false };
  const errors = mergeId === undefined ? errorsOfMerge(body) : errorsOfUndo(body);
  if (errors.length > 0) throw Problem.validation(errors);
  if (mergeId !== undefined) return { mergeId: mergeId.toLowerCase(), ...common };
  return {
    survivorId: (survivorId ?? '').toLowerCase(),
    mergedId: (mergedId ?? '').toLowerCase(),
    keep: keep as Record<string, Side>,
    ...common,
  };
}

function errorsOfUndo(body: MergeContactsDto): FieldError[] {
  const others = (['survivor_id', 'merged_id', 'keep'] as const).filter((name) => body[name] !== undefined);
  return others.map((name) => ({
    pointer: `/${name}`,
    code: 'not_allowed',
    detail: '`undo_merge_id` says what is parted; nothing else goes with it.',
  }));
}

function errorsOfMerge({ survivor_id: survivorId, merged_id: mergedId, keep = {} }: MergeContactsDto) {
  const errors: FieldError[] = [];
  for (const [name, id] of Object.entries({ survivor_id: survivorId, merged_id: mergedId })) {
    if (id === undefined)
      errors.push({ pointer: `/${name}`, code: 'required', detail: `\`${name}\` is required.` });
  }
  if (survivorId !== undefined && survivorId.toLowerCase() === mergedId?.toLowerCase()) {
    errors.push({
      pointer: '/merged_id',
      code: 'not_allowed',
      detail: 'A contact is not merged into itself.',
    });
  }
  for (const [field, side] of Object.entries(keep)) {
    const pointer = `/keep/${pointerToken(field)}`;
    if (!isMergedField(field)) {
      const detail = `Allowed are ${MERGED_FIELDS.join(', ')} and attributes.<key>.`;
      errors.push({ pointer, code: 'unknown_field', detail });
    } else if (side !== 'survivor' && side !== 'merged') {
      errors.push({ pointer, code: 'invalid_enum', detail: 'It is `survivor` or `merged`.' });
    }
  }
  return errors;
}

function isMergedField(field: string): boolean {
  return (MERGED_FIELDS as readonly string[]).includes(field) || /^attributes\../s.test(field);
}
