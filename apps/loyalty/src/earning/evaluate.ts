import type { EventData } from '@customer-platform/events';
import type { RuleContent } from '../rules/rule.js';
import { meets } from './conditions.js';
import { pointsOf } from './points.js';
import { type RuleBook, type RuleHistory, inForce, rulesFor } from './rule-book.js';

/** An event as core recorded it. */
export type RecordedEvent = EventData<'core.event.recorded.v1'>;

/** Points that a rule gives for an event, before the contact's cap. */
export interface Candidate {
  event: RecordedEvent;
  correlationId: string;
  ruleId: string;
  version: number;
  content: RuleContent;
  points: number;
}

/**
 * Tries an event against the rules of its organization: the version in force when it was received, valid when it
 * occurred, its conditions met. Rules add up (loyalty.md §2).
 * @throws PointsOutOfRange
 */
export function candidatesOf(book: RuleBook, event: RecordedEvent, correlationId: string): Candidate[] {
  return rulesFor(book, event.event, Date.parse(event.received_at)).flatMap((history) =>
    candidateOf(history, event, correlationId),
  );
}

/** What one rule gives for an event: one candidate or none. @throws PointsOutOfRange */
export function candidateOf(history: RuleHistory, event: RecordedEvent, correlationId: string): Candidate[] {
  const occurredAt = Date.parse(event.occurred_at);
  const period = inForce(history, Date.parse(event.received_at));
  if (period === undefined || period.content.event !== event.event) return [];
  const { content, version } = period;
  if (occurredAt < content.validFrom.getTime()) return [];
  if (content.validTo !== null && occurredAt >= content.validTo.getTime()) return [];
  if (!content.conditions.every((condition) => meets(condition, event.properties))) return [];
  const most = Math.min(content.maxPerEvent ?? Infinity, content.maxPerContact?.points ?? Infinity);
  const points = pointsOf(content.formula, event.properties, most);
  return points > 0 ? [{ event, correlationId, ruleId: history.ruleId, version, content, points }] : [];
}
