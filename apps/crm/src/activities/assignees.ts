import { Injectable } from '@nestjs/common';
import { InternalCallRefused, InternalClient } from '@customer-platform/authorization';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

const ASK_TIMEOUT_MS = 300;
const DETAILS = {
  reference_not_found: 'There is no such member.',
  reference_deleted: 'This user is soft-deleted.',
} as const;

/** Whether a user may be given something to do: identity knows who is a member (crm.md §1, §2). */
@Injectable()
export class Assignees {
  constructor(private readonly internal: InternalClient) {}

  /**
   * @throws Problem `reference_not_found` for whoever is no member here, `reference_deleted`,
   * `dependency_unavailable` when identity is silent
   */
  async demandMember(organizationId: string, userId: string): Promise<void> {
    const state = await this.ask(organizationId, userId);
    if (state === 'member') return;
    const code = state === 'deleted' ? 'reference_deleted' : 'reference_not_found';
    const detail = DETAILS[code];
    throw new Problem(code, { detail, errors: [{ pointer: '/assignee_id', code, detail }] });
  }

  private async ask(organizationId: string, userId: string): Promise<'member' | 'deleted' | 'none'> {
    try {
      const answer = await this.internal.call<unknown>('identity', {
        method: 'POST',
        path: '/internal/memberships/check',
        body: { organization_id: organizationId, user_id: userId },
        timeoutMs: ASK_TIMEOUT_MS,
      });
      return readState(answer);
    } catch (error) {
      if (error instanceof Problem) throw error;
      // A refusal or an answer that cannot be read is a defect between the modules; to the caller identity is silent.
      const status = error instanceof InternalCallRefused ? error.status : undefined;
      log.error({ err: error, status }, 'Identity did not answer who is a member');
      throw new Problem('dependency_unavailable', {
        detail: 'The module identity does not answer; try again shortly.',
        cause: error,
      });
    }
  }
}

function readState(answer: unknown): 'member' | 'deleted' | 'none' {
  const { state } = (answer ?? {}) as { state?: unknown };
  if (state === 'member' || state === 'deleted' || state === 'none') return state;
  throw new TypeError('The answer tells no membership');
}
