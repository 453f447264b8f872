import { Injectable } from '@nestjs/common';
import { Clock, type Transaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ContactLookup } from '../../contacts/contact-lookup.js';
import { readFacts } from '../evaluating/contact-facts.js';
import { OccurrenceSearch } from '../evaluating/sought-occurrences.js';
import { storedOccurrences } from '../evaluating/stored-occurrences.js';
import { SegmentIndex } from '../following/segment-index.js';
import { parseRule } from '../rules/parse-rule.js';
import { askedOf } from '../rules/rule.js';
import type { Segment } from '../segment.entity.js';
import type { ExplanationDto } from './explain.dto.js';
import { explainRule } from './explain-rule.js';

/** Events of each leaf that are counted. */
const MOST_COUNTED = 10_000;

const MEMBER = `
  SELECT FROM segment_members
   WHERE organization_id = $1 AND contact_id = $2 AND segment_id = $3 AND left_at IS NULL`;

/** Says of a contact which part of a segment's rule decides (core.md §7). */
@Injectable()
export class SegmentExplainer {
  constructor(
    private readonly clock: Clock,
    private readonly lookup: ContactLookup,
  ) {}

  /**
   * Counts as the evaluation does, from what it keeps; of a segment whose past is still being looked up, from the events.
   * @throws Problem `not_found` for a contact that is not the organization's, or was erased
   */
  async explain(
    tx: Transaction,
    context: RequestContext,
    segment: Segment,
    contactId: string,
  ): Promise<ExplanationDto> {
    const contact = await this.lookup.read(tx, contactId);
    const id = 'ids' in contact ? contactId : contact.survivorId;
    const node = parseRule(segment.rule);
    const asked = askedOf(node);
    const index = await SegmentIndex.load(tx);
    const occurrences = index.keepsMatchesOf(segment.id, asked)
      ? storedOccurrences(index, MOST_COUNTED)
      : new OccurrenceSearch({ most: MOST_COUNTED, atLeast: MOST_COUNTED }).read;
    const now = this.clock.now();
    const known = await readFacts(tx, new Map([[id, new Set([asked])]]), now, occurrences, 'any');
    const facts = known.get(id)?.facts;
    if (!facts) throw new Problem('not_found');
    const member = await tx.query(MEMBER, [tx.organizationId, id, segment.id]);
    const sight = {
      attributes: context.can('core.contacts.read'),
      consents: context.can('core.consents.read'),
      events: context.can('core.events.read'),
    };
    return {
      member: member.length > 0,
      rule: explainRule(segment.rule, node, facts, now.getTime(), sight),
    };
  }
}
