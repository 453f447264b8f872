import { Inject, Injectable } from '@nestjs/common';
import { InternalClient, InternalCallRefused, type ModuleName } from '@customer-platform/authorization';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { newId } from '../ids.js';
import type { ReferenceCount } from '../resources/constraints.js';
import { LONGEST_HOLD_MS, type HeldResource } from './reference-holds.js';
import { REFERENCES_OPTIONS, type ReferencesModuleOptions } from './references.options.js';

/** A module that takes longer counts as silent. */
const ASK_TIMEOUT_MS = 2_000;
/** What must be left of the holds when the purge commits. */
const MARGIN_MS = 1_500;

/** What the other modules said, and their holds, which stand until they are released or end by themselves. */
export interface RemoteHold {
  references: ReferenceCount[];
  /** @throws Problem `dependency_unavailable` when the holds may end before a commit that begins now */
  demandStanding(): void;
  /** Lets new references in again; for a purge that did not come about. Never throws. */
  release(): Promise<void>;
}

/** Asks the other modules what points to a row of ours, while they hold back new references. */
@Injectable()
export class RemoteReferences {
  constructor(
    private readonly client: InternalClient,
    @Inject(REFERENCES_OPTIONS) private readonly options: ReferencesModuleOptions,
  ) {}

  /**
   * Counts from every module.
   * @throws Problem `dependency_unavailable` when one of them does not answer; the others' holds are released then
   */
  async hold(held: HeldResource): Promise<RemoteHold> {
    const holdId = newId();
    const standsUntil = performance.now() + LONGEST_HOLD_MS - MARGIN_MS;
    const release = () => this.release(held.organizationId, holdId);
    const asked = (this.options.ask ?? []).map((module) => this.ask(module, held, holdId));
    const answers = await Promise.allSettled(asked);
    const silent = answers.find((answer) => answer.status === 'rejected');
    if (silent) {
      await release();
      throw silent.reason;
    }
    return {
      references: answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])),
      demandStanding: () => {
        if (performance.now() < standsUntil) return;
        throw new Problem('dependency_unavailable', {
          detail: 'The purge took too long; try again shortly.',
        });
      },
      release,
    };
  }

  private async ask(module: ModuleName, held: HeldResource, holdId: string): Promise<ReferenceCount[]> {
    const { organizationId: organization_id, resource, id } = held;
    const body = { organization_id, resource, id, hold_id: holdId, hold_ms: LONGEST_HOLD_MS };
    try {
      const answer = await this.client.call<unknown>(module, {
        method: 'POST',
        path: '/internal/references',
        body,
        timeoutMs: ASK_TIMEOUT_MS,
      });
      return readCounts(module, answer);
    } catch (error) {
      if (error instanceof Problem) throw error;
      // A refusal, or an answer that cannot be read, says nothing of references: the module counts as silent.
      const status = error instanceof InternalCallRefused ? error.status : undefined;
      log.error({ err: error, status, peer: module }, 'A module did not count references');
      throw new Problem('dependency_unavailable', {
        detail: `The module ${module} does not answer; try again shortly.`,
        cause: error,
      });
    }
  }

  private async release(organizationId: string, holdId: string): Promise<void> {
    const calls = (this.options.ask ?? []).map((module) =>
      this.client.call(module, {
        method: 'POST',
        path: '/internal/references/release',
        body: { organization_id: organizationId, hold_id: holdId },
        timeoutMs: ASK_TIMEOUT_MS,
      }),
    );
    for (const { status } of await Promise.allSettled(calls)) {
      if (status === 'rejected') log.warn({ hold_id: holdId }, 'A hold on references ends by itself');
    }
  }
}

function readCounts(module: ModuleName, answer: unknown): ReferenceCount[] {
  const { references } = (answer ?? {}) as { references?: unknown };
  if (!Array.isArray(references)) throw new TypeError('The counts of references cannot be read');
  return references.map((item: Partial<ReferenceCount>) => {
    const { resource, count } = item;
    if (typeof resource === 'string' && typeof count === 'number') return { module, resource, count };
    throw new TypeError('The counts of references cannot be read');
  });
}
