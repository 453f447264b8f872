import { Injectable } from '@nestjs/common';
import { Clock, type Transaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ContactLookup } from '../../people/contacts/contact-lookup.js';
import { readFacts } from '../evaluating/contact-facts.js';
import { OccurrenceSearch } from '../evaluating/sought-occurrences.js';
import { storedOccurrences } from '../evaluating/stored-occurrences.js';
import { SegmentIndexes } from '../../following/segment-indexes.js';
import { ANSWER_MS, TimeLimit } from '../../previews/time-limit.js';
import { NOTHING_DECLARED } from '../../vocabulary/attributes/declared-attributes.js';
import { byDeclaredTypes, factsAsConverted } from '../../vocabulary/rules/declared-values.js';
import { parseRule } from '../../vocabulary/rules/parse-rule.js';
import { askedOf } from '../../vocabulary/rules/rule.js';
import type { Segment } from '../segment.entity.js';
import type { ExplanationDto } from './explain.dto.js';
import { explainRule } from './explain-rule.js';

/** Events of each leaf that are counted; as many as a preview looks through. */
const MOST_COUNTED = 1_000;

const MEMBER = `
  SELECT FROM segment_members
   WHERE organization_id = $1 AND contact_id = $2 AND segment_id = $3 AND left_at IS NULL`;

/** Says of a contact which part of a segment's rule decides (core.md §7). */
@Injectable()
export class SegmentExplainer {
  constructor(
    private readonly clock: Clock,
    private readonly lookup: ContactLookup,
    private readonly indexes: SegmentIndexes,
  ) {}

  /**
   * Counts as the evaluation does, from what it keeps; of a segment whose past is still being looked up, from the events.
   * @throws Problem `not_found` for a contact that is not the organization's, or was erased; `dependency_unavailable` where
   * its history could not be read in time
   */
  async explain(
    tx: Transaction,
    context: RequestContext,
    segment: Segment,
    contactId: string,
  ): Promise<ExplanationDto> {
    const limit = new TimeLimit(ANSWER_MS);
    const explanation = await limit.attempt(tx, (timed) =>
      this.inTime(timed, limit, context, segment, contactId),
    );
    if (explanation) return explanation;
    const detail = 'What the rule asks of this contact could not be read in time; try again.';
    throw new Problem('dependency_unavailable', { detail });
  }

  private async inTime(
    tx: Transaction,
    { goOn }: TimeLimit,
    context: RequestContext,
    segment: Segment,
    contactId: string,
  ): Promise<ExplanationDto> {
    const contact = await this.lookup.read(tx, contactId);
    const id = 'ids' in contact ? contactId : contact.survivorId;
    const index = await this.indexes.now(tx);
    const declared = index?.declared ?? NOTHING_DECLARED;
    const node = byDeclaredTypes(parseRule(segment.rule), declared);
    const asked = askedOf(node);
    const occurrences = index?.keepsMatchesOf(segment.id, asked)
      ? storedOccurrences(index, MOST_COUNTED)
      : new OccurrenceSearch({ most: MOST_COUNTED, atLeast: MOST_COUNTED, goOn }).read;
    const now = this.clock.now();
    const known = await readFacts(tx, new Map([[id, new Set([asked])]]), now, occurrences, 'any');
    const stored = known.get(id)?.facts;
    if (!stored) throw new Problem('not_found');
    const facts = factsAsConverted(stored, declared);
    const member = await tx.query(MEMBER, [tx.organizationId, id, segment.id]);
    return {
      member: member.length > 0,
      rule: explainRule(segment.rule, node, facts, now.getTime(), context),
    };
  }
}
