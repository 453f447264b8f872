import { Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import { AddressKeys } from '../../vocabulary/addresses/address-keys.provider.js';
import type { KeysOfAddress } from '../../vocabulary/addresses/address-keys.js';
import { contactSubject, type Contact } from '../../vocabulary/contacts/contact.js';
import type { TemplateVersion } from '../../content/templates/template-versions.js';
import { BatchReader, type BatchFacts } from './batch-facts.js';
import { CapCounters, type CountedSend } from './cap-counters.js';
import type { ClaimedSend } from './claimed-send.js';
import { calendarOf, checkPerson, quietHoursEnd, type PassedSend } from './dispatch-checks.js';
import { optedOut, suppressed } from './objections.js';

/** A send as a dispatcher would hold it. */
export type ForeseenSend = ClaimedSend;

/** The decision that the gate would take on a send. */
export type Forecast =
  /** It would be handed over, now or after what it waits for. */
  | {
      readonly kind: 'reached';
      readonly waitsFor: 'quiet_hours' | 'not_permitted' | 'organization_suspended' | undefined;
      readonly contact: Contact | undefined;
      /** Undefined: the version is there no more. */
      readonly template: TemplateVersion | undefined;
    }
  | { readonly kind: 'excluded'; readonly reason: string }
  /** Another module has not said what has to be known. */
  | { readonly kind: 'open' };

/** Finds those against which something stands that only the gate itself looks at. */
const OBJECTIONS = `
  SELECT c.id, ${suppressed('c')} AS suppressed, ${optedOut('c')} AS opted_out
    FROM jsonb_to_recordset($1::jsonb) AS c (organization_id uuid, id uuid, channel text, category text, topic text,
      keys text[], subjects text[])`;

interface Objection {
  id: string;
  suppressed: boolean;
  opted_out: boolean;
}

/** A send that nothing stands against before the last two checks. */
interface Foreseen extends CountedSend {
  readonly passed: PassedSend;
  readonly keys: KeysOfAddress;
}

/**
 * Says what the gate would decide of sends that are not stored, by the same checks in the same order, and changes nothing:
 * it takes no place in a cap, holds no lock and has no transport.
 */
@Injectable()
export class GateForecast {
  constructor(
    private readonly database: Database,
    private readonly reader: BatchReader,
    private readonly keys: AddressKeys,
    private readonly clock: Clock,
  ) {}

  /** Decisions by the ids of the sends. */
  async of(sends: readonly ForeseenSend[]): Promise<ReadonlyMap<string, Forecast>> {
    const forecasts = new Map<string, Forecast>();
    if (sends.length === 0) return forecasts;
    const facts = await this.reader.read(sends, { keeps: false });
    const now = this.clock.now();
    const foreseen: Foreseen[] = [];
    for (const send of sends) {
      const checked = checkPerson(send, facts, now);
      if (checked.kind === 'passed') foreseen.push(this.foresee(checked));
      else forecasts.set(send.id, early(checked, facts));
    }
    const reasons = await this.lastChecks(foreseen, now);
    for (const { passed } of foreseen) {
      const reason = reasons.get(passed.send.id);
      forecasts.set(passed.send.id, reason ? { kind: 'excluded', reason } : reached(passed, facts, now));
    }
    return forecasts;
  }

  private foresee(passed: PassedSend): Foreseen {
    const { send, sending, contact, address } = passed;
    return {
      passed,
      send,
      keys: this.keys.of(send.organizationId, address),
      contactId: contact?.id ?? null,
      timezone: calendarOf(contact, sending),
      caps: sending.caps.filter(({ channel }) => channel === send.channel),
    };
  }

  /** Checks 5 and 6: why those end that do not pass. */
  private async lastChecks(foreseen: readonly Foreseen[], now: Date): Promise<Map<string, string>> {
    if (foreseen.length === 0) return new Map();
    return this.database.acrossOrganizations(
      async (tx) => {
        const caps = await CapCounters.read(tx, foreseen, now);
        const rows = await tx.prepared<Objection>(OBJECTIONS, [JSON.stringify(foreseen.map(toCandidate))]);
        const objections = new Map(rows.map((row) => [row.id, row]));
        return new Map(
          foreseen.flatMap((one): [string, string][] => {
            const { id } = one.send;
            if (!caps.take(one)) return [[id, 'cap']];
            const objection = objections.get(id);
            const reason = objection && reasonOf(objection);
            if (reason) caps.release(one);
            return reason ? [[id, reason]] : [];
          }),
        );
      },
      { onePlan: true },
    );
  }
}

function early(
  decision: Exclude<ReturnType<typeof checkPerson>, { kind: 'passed' }>,
  facts: BatchFacts,
): Forecast {
  const { kind, send } = decision;
  const waiting = { kind: 'reached', contact: undefined, template: undefined } as const;
  if (kind === 'end') return { kind: 'excluded', reason: decision.reason };
  if (kind === 'suspend') return { ...waiting, waitsFor: 'organization_suspended' };
  if (kind === 'later' && facts.channelStanding(send) === 'not_permitted')
    return { ...waiting, waitsFor: 'not_permitted' };
  return { kind: 'open' };
}

function reached(passed: PassedSend, facts: BatchFacts, now: Date): Forecast {
  const template = facts.template(passed.send);
  const waitsFor = quietHoursEnd(passed, now) ? 'quiet_hours' : undefined;
  return { kind: 'reached', waitsFor, contact: passed.contact, template };
}

function reasonOf(objection: Objection): string | undefined {
  if (objection.opted_out) return 'preference';
  return objection.suppressed ? 'recipient_suppressed' : undefined;
}

function toCandidate({ send, keys, contactId }: Foreseen) {
  return {
    organization_id: send.organizationId,
    id: send.id,
    channel: send.channel,
    category: send.category,
    topic: send.topic,
    keys: keys.blocking,
    subjects: [...keys.own, ...(contactId === null ? [] : [contactSubject({ id: contactId })])],
  };
}
