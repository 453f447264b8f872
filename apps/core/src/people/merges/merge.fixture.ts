import { expectStatus, type Answer, type Caller, type ProblemAnswer } from '@customer-platform/testing';
import { at, CONTACTS } from '../contacts/contact.fixture.js';
import type { ContactDto } from '../contacts/contact.dto.js';
import type { MergeDto } from './merge.dto.js';

type Named = { id: string };

/** The route. */
export const MERGE = `${CONTACTS}/merge`;

/** Tries a merge; whatever is answered. */
export function tryMerge(
  caller: Caller,
  survivor: Named,
  merged: Named,
  more: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Answer<MergeDto>> {
  return caller.post<MergeDto>(MERGE, { survivor_id: survivor.id, merged_id: merged.id, ...more }, headers);
}

/** Merges. */
export async function merge(
  caller: Caller,
  survivor: Named,
  merged: Named,
  more: Record<string, unknown> = {},
): Promise<MergeDto> {
  const answer = await tryMerge(caller, survivor, merged, more);
  expectStatus(answer, 200);
  return answer.body;
}

/** Tries to undo a merge; whatever is answered. */
export function tryUndo(
  caller: Caller,
  { merge_id: id }: Pick<MergeDto, 'merge_id'>,
  more: Record<string, unknown> = {},
): Promise<Answer<MergeDto>> {
  return caller.post<MergeDto>(MERGE, { undo_merge_id: id, ...more });
}

/** Undoes a merge. */
export async function undo(caller: Caller, done: Pick<MergeDto, 'merge_id'>): Promise<MergeDto> {
  const answer = await tryUndo(caller, done);
  expectStatus(answer, 200);
  return answer.body;
}

/** A contact as it is read now. */
export async function read(caller: Caller, contact: Named): Promise<ContactDto> {
  const answer = await caller.get<ContactDto>(at(contact));
  expectStatus(answer, 200);
  return answer.body;
}

/** What of a contact is its own: all but the marks of its changes. */
export function profileOf({
  version: _v,
  updated_at: _u,
  ...profile
}: ContactDto): Omit<ContactDto, 'version' | 'updated_at'> {
  return profile;
}

export type { ProblemAnswer };
