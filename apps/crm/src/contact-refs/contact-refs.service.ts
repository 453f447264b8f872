import { Injectable } from '@nestjs/common';
import { InternalCallRefused, InternalClient } from '@customer-platform/authorization';
import { Database, type Transaction } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { ContactRef, ResolvedContact } from './contact-ref.js';
import { ContactRefsRepository, type ChainEnd } from './contact-refs.repository.js';
import { parseLookup } from './contact-lookup.js';

const ASK_TIMEOUT_MS = 300;
/** Core is asked at most so often for one request: for the ids, then for survivors that it named and we did not know. */
const ROUNDS = 3;
/** Ids core takes in one call. */
const IDS_AT_ONCE = 1_000;

/** What ids of contacts stand for: from `contact_refs`, and where they do not know one yet, from core. */
@Injectable()
export class ContactRefs {
  constructor(
    private readonly database: Database,
    private readonly refs: ContactRefsRepository,
    private readonly internal: InternalClient,
  ) {}

  /**
   * Resolves the ids (at most 1,000) within the organization; every id gets an answer.
   * @throws Problem `dependency_unavailable` when core has to be asked and is silent
   */
  async resolve(organizationId: string, ids: readonly string[]): Promise<Map<string, ResolvedContact>> {
    if (ids.length > IDS_AT_ONCE) throw new RangeError('At most 1,000 contacts can be resolved at once');
    const asked = new Set<string>();
    for (let round = 0; ; round += 1) {
      const ends = await this.database.inOrganization({ organizationId }, (tx) => this.refs.follow(tx, ids));
      const missing = missingIn(ids, ends).filter((id) => !asked.has(id));
      if (missing.length === 0 || round === ROUNDS) return resolvedBy(ids, ends);
      missing.forEach((id) => asked.add(id));
      const found = await this.askCore(organizationId, missing);
      if (found.length === 0) return resolvedBy(ids, ends);
      await this.database.inOrganization({ organizationId }, (tx) => this.refs.write(tx, found));
    }
  }

  /** Where these contacts' rows are, as far as is known here; core is not asked. */
  async holders(tx: Transaction, ids: readonly string[]): Promise<string[]> {
    const ends = await this.refs.follow(tx, ids);
    return [...new Set(ends.map(({ id }) => id))];
  }

  private async askCore(organizationId: string, ids: readonly string[]): Promise<ContactRef[]> {
    try {
      const answer = await this.internal.call<unknown>('core', {
        method: 'POST',
        path: '/internal/contacts/lookup',
        body: { organization_id: organizationId, ids },
        timeoutMs: ASK_TIMEOUT_MS,
      });
      return parseLookup(answer);
    } catch (error) {
      if (error instanceof Problem) throw error;
      // A refusal or an answer that cannot be read is a defect between the modules; to the caller core is silent.
      log.error({ err: error, status: statusOf(error) }, 'Core did not answer a look-up of contacts');
      throw new Problem('dependency_unavailable', {
        detail: 'The module core does not answer; try again shortly.',
        cause: error,
      });
    }
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof InternalCallRefused ? error.status : undefined;
}

/** The ids nothing is known of, and the survivors that known ones lead to. */
function missingIn(ids: readonly string[], ends: readonly ChainEnd[]): string[] {
  const known = new Set(ends.map(({ asked }) => asked));
  const survivors = ends.flatMap(({ merged_into: survivor }) => (survivor === null ? [] : [survivor]));
  return [...new Set([...ids.filter((id) => !known.has(id)), ...survivors])];
}

function resolvedBy(ids: readonly string[], ends: readonly ChainEnd[]): Map<string, ResolvedContact> {
  const byId = new Map(ends.map((end) => [end.asked, end]));
  return new Map(ids.map((id) => [id, resolved(byId.get(id))]));
}

function resolved(end: ChainEnd | undefined): ResolvedContact {
  if (!end || (end.state !== 'active' && end.state !== 'deleted')) return { kind: 'absent' };
  return { kind: end.id === end.asked ? 'present' : 'merged', id: end.id, deleted: end.state === 'deleted' };
}
