import { Injectable } from '@nestjs/common';
import { coreDoesNotAnswer, ContactReferences, type ResolvedContact } from '@customer-platform/contact-refs';
import type { ListQuery, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { FRAGMENTS, type Fragment } from './fragments.js';
import { isWanted, sourceFilters } from './source-filters.js';
import { SourceClient, type FragmentAnswer } from './source.client.js';
import type { Position } from './timeline-position.js';
import { decodeWalk, encodeWalk, step, walkFromStart, type WalkState } from './timeline-walk.js';
import { type TimelineGapDto, timelineText } from './timeline.dto.js';

/** The timeline as JSON, or the contact in whose timeline it now is. */
type TimelineAnswer =
  | { readonly kind: 'timeline'; readonly text: string }
  | { readonly kind: 'merged'; readonly survivorId: string };

/**
 * Composes a contact's timeline from what the modules hold, each asked with the caller's own credential (crm.md §4).
 * Nothing of it is kept here.
 */
@Injectable()
export class TimelineService {
  constructor(
    private readonly contacts: ContactReferences,
    private readonly sources: SourceClient,
  ) {}

  /**
   * One page.
   * @throws Problem `not_found` for a contact that is not there, `cursor_mismatch` for another contact's cursor,
   * `dependency_unavailable` when core must be asked who the contact is and is silent, 401 when a source says so
   */
  async read(context: RequestContext, contactId: string, query: ListQuery): Promise<TimelineAnswer> {
    const [walker = contactId, ...positions] = query.after ?? [];
    const begun = walker ?? contactId;
    const resolved = await this.contacts.resolve(context.organizationId, [...new Set([contactId, begun])]);
    const [start, contact] = [resolved.get(begun), resolved.get(contactId)];
    if (start?.kind === 'unreadable' || contact?.kind === 'unreadable') throw coreDoesNotAnswer();
    refuseForeignCursor(start, contact);
    if (!contact || contact.kind === 'absent') throw new Problem('not_found');
    if (contact.kind === 'merged') return { kind: 'merged', survivorId: contact.id };
    const state = query.after ? decodeWalk(positions) : walkFromStart();
    return { kind: 'timeline', text: await this.compose(context, contact.id, query, state) };
  }

  private async compose(
    context: RequestContext,
    contactId: string,
    query: ListQuery,
    state: WalkState,
  ): Promise<string> {
    const asked = FRAGMENTS.filter(
      (fragment) =>
        context.can(fragment.permission) &&
        isWanted(fragment, query.filters) &&
        state.get(fragment) !== 'end',
    );
    const answers = await this.ask(context, contactId, query, state, asked);
    const { items, next } = step(state, answers, query.limit);
    const unreachable = asked.filter((fragment) => answers.get(fragment)?.kind === 'unreachable');
    return timelineText(items, {
      page: {
        limit: query.limit,
        next_cursor: next ? query.cursorFor([contactId, ...encodeWalk(next)]) : null,
      },
      unreachable: [...new Set(unreachable.map(({ source }) => source))].sort(),
      gaps: asked.flatMap((fragment) =>
        gapOf(fragment, answers.get(fragment), !next || next.get(fragment) === 'end'),
      ),
    });
  }

  private async ask(
    context: RequestContext,
    contactId: string,
    query: ListQuery,
    state: WalkState,
    fragments: readonly Fragment[],
  ): Promise<Map<Fragment, FragmentAnswer>> {
    const filters = sourceFilters(query.filters);
    const deadline = this.sources.deadline();
    try {
      const after = (fragment: Fragment): Position | undefined => {
        const progress = state.get(fragment);
        return typeof progress === 'object' ? progress : undefined;
      };
      const request = { contactId, limit: query.limit, filters, after };
      return await this.sources.readAll(fragments, context, request, deadline);
    } finally {
      deadline.end();
    }
  }
}

/** Where the walk has come to the end of what the fragment holds, what it held before that. */
function gapOf(
  { source, type }: Fragment,
  answer: FragmentAnswer | undefined,
  ended: boolean,
): TimelineGapDto[] {
  const until = answer?.kind === 'page' && ended ? answer.page.removedUntil : undefined;
  return until === undefined ? [] : [{ source, type, reason: 'retention', until }];
}

type KnownContact = Exclude<ResolvedContact, { kind: 'unreadable' }>;

/** A walk goes on over the contact it began with, or the one into which that was merged meanwhile. */
function refuseForeignCursor(begun: KnownContact | undefined, now: KnownContact | undefined): void {
  if (!begun || !now || begun === now || now.kind === 'absent') return;
  if (begun.kind !== 'absent' && begun.id === now.id) return;
  const detail = 'The cursor was issued for the timeline of another contact.';
  throw Problem.validation([{ parameter: 'cursor', code: 'cursor_mismatch', detail }]);
}
