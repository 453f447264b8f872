import { Injectable } from '@nestjs/common';
import { Clock, Database, type Transaction } from '@customer-platform/database';
import { yieldLoop, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ContactLookup } from '../../people/contacts/contact-lookup.js';
import { SegmentIndexes } from '../../following/segment-indexes.js';
import { readFacts, type KnownContact } from '../evaluating/contact-facts.js';
import { OccurrenceSearch } from '../evaluating/sought-occurrences.js';
import {
  NOTHING_DECLARED,
  type DeclaredAttributes,
} from '../../vocabulary/attributes/declared-attributes.js';
import { byDeclaredTypes, factsAsConverted } from '../../vocabulary/rules/declared-values.js';
import { evaluate } from '../../vocabulary/rules/evaluate.js';
import { parseNewRule } from '../../vocabulary/rules/parse-rule.js';
import { demandReadable } from '../../vocabulary/rules/read-permissions.js';
import { askedOf, type RuleNode } from '../../vocabulary/rules/rule.js';
import { candidatesOf } from './candidates.js';
import { PreviewSlots } from '../../previews/preview-slots.js';
import type { RulePreviewDto } from './preview.dto.js';
import { ANSWER_MS, TimeLimit } from '../../previews/time-limit.js';

/** Few at first, so that something is known whatever the contacts are like. */
const FIRST_CONTACTS = 50;
const MOST_CONTACTS = 250;
/** More would make no estimate better that anybody could notice: of a tenth of all it is right to three in a hundred. */
const MOST_LOOKED_AT = 10_000;
const MOST_SHOWN = 10;
/** Events of a contact, of one name, that are looked through. */
const MOST_EVENTS = 1_000;
/** As long as evaluating may hold the event loop. */
const STEP_MS = 5;

/** What was found of the contacts that were looked at. */
interface Tally {
  looked: number;
  matching: number;
  readonly shown: { contact_id: string; external_id: string | null }[];
}

/** Random numbers, of [0, 1); a test provides its own. */
@Injectable()
export class PreviewRandom {
  next(): number {
    return Math.random();
  }
}

/** How many contacts a rule would hold of, before it is a segment's (core.md §7). */
@Injectable()
export class RulePreview {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly lookup: ContactLookup,
    private readonly random: PreviewRandom,
    private readonly slots: PreviewSlots,
    private readonly indexes: SegmentIndexes,
  ) {}

  /**
   * Counts by the evaluation that membership comes from, all contacts that can match or a sample of them, as far as it
   * comes in its time.
   * @throws Problem `invalid_segment_rule`, `permission_denied`, `rate_limited`; `dependency_unavailable` where it came to
   * nobody in its time
   */
  async preview(context: RequestContext, rule: object): Promise<RulePreviewDto> {
    const node = parseNewRule(rule);
    demandReadable(context, node);
    const found = await this.slots.hold(context, () =>
      this.database.inOrganization(context, (tx) => this.count(tx, node)),
    );
    return context.can('core.contacts.read') ? found : { ...found, sample: [] };
  }

  private async count(tx: Transaction, written: RuleNode): Promise<RulePreviewDto> {
    const declared = (await this.indexes.now(tx))?.declared ?? NOTHING_DECLARED;
    const node = byDeclaredTypes(written, declared);
    const limit = new TimeLimit(ANSWER_MS);
    const now = this.clock.now();
    const random = (): number => this.random.next();
    const candidates = await candidatesOf(tx, node, now, { lookup: this.lookup, limit, random });
    if (!candidates) throw tooSlow();
    const ids = shuffled(candidates.ids, random).slice(0, MOST_LOOKED_AT);
    const search = new OccurrenceSearch({ most: MOST_EVENTS, goOn: limit.goOn });
    const tally: Tally = { looked: 0, matching: 0, shown: [] };
    for (let size = FIRST_CONTACTS; tally.looked < ids.length; size = MOST_CONTACTS) {
      const some = ids.slice(tally.looked, tally.looked + size);
      const done = await limit.attempt(tx, (timed) =>
        look(timed, node, some, now, { search, limit, declared }),
      );
      if (!done) break;
      tally.looked += some.length;
      tally.matching += done.matching;
      tally.shown.push(...done.shown.slice(0, MOST_SHOWN - tally.shown.length));
    }
    if (tally.looked === 0 && candidates.total > 0) throw tooSlow();
    const all = tally.looked === candidates.total;
    const count = all ? tally.matching : Math.round((tally.matching / tally.looked) * candidates.total);
    return { count, exact: all && !search.incomplete, sample: tally.shown };
  }
}

/** Some contacts, all of them or none. */
async function look(
  tx: Transaction,
  node: RuleNode,
  ids: readonly string[],
  now: Date,
  { search, limit, declared }: { search: OccurrenceSearch; limit: TimeLimit; declared: DeclaredAttributes },
): Promise<Pick<Tally, 'matching' | 'shown'>> {
  const asked = new Set([askedOf(node)]);
  const questions = new Map(ids.map((id) => [id, asked]));
  const known = await readFacts(tx, questions, now, search.read);
  const shown: Tally['shown'] = [];
  let matching = 0;
  let since = performance.now();
  for (const [id, contact] of known) {
    const facts = factsAsConverted(contact.facts, declared);
    if (contact.active && evaluate(node, facts, now.getTime()).holds) {
      matching += 1;
      if (shown.length < MOST_SHOWN) shown.push({ contact_id: id, external_id: externalIdOf(contact) });
    }
    if (performance.now() - since < STEP_MS) continue;
    await yieldLoop();
    limit.goOn();
    since = performance.now();
  }
  return { matching, shown };
}

function externalIdOf({ facts }: KnownContact): string | null {
  const value = facts.attribute('external_id');
  return typeof value === 'string' ? value : null;
}

/** So that those who are looked at in time stand for the others. */
function shuffled(ids: readonly string[], random: () => number): string[] {
  const order = [...ids];
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [order[at], order[other]] = [order[other] ?? '', order[at] ?? ''];
  }
  return order;
}

function tooSlow(): Problem {
  return new Problem('dependency_unavailable', {
    detail: 'No contact could be looked at in time; try again, or ask for less.',
  });
}
