import { newId } from '@customer-platform/database';
import { metrics } from '@customer-platform/http';
import { expectStatus, type Caller, type Fault, type WorkScenario } from '@customer-platform/testing';
import type { MessagingWorld } from './messaging.fixture.js';
import { DOMAINS } from './settings/sender-domains/verification.fixture.js';
import type { WebhookReceiver } from './webhook-endpoints/webhook-receiver.fixture.js';

/** What the scenarios of messaging's background work run in. */
export interface ScenarioWorld {
  readonly world: MessagingWorld;
  readonly receiver: WebhookReceiver;
  apiOf(organizationId: string): Caller;
}

const SENDS = `
  WITH made AS (
    INSERT INTO sends (organization_id, id, channel, state, category, recipient, source, lane, due_at, correlation_id,
      created_at, updated_at)
    SELECT $1, gen_random_uuid(), 'email', 'accepted', 'transactional',
           coalesce($5::jsonb, jsonb_build_object('address', gen_random_uuid() || '@example.com')), $4, $3, now(),
           gen_random_uuid(), now(), now()
      FROM generate_series(1, $2::int)
    RETURNING organization_id, id)
  INSERT INTO send_payloads (organization_id, send_id, content)
  SELECT organization_id, id, '[{"name":"subject","mode":"line","source":"Hello"},{"name":"text","mode":"text","source":"Hello there."}]' FROM made`;

const PERIOD = `
  INSERT INTO retention_periods (organization_id, kind, wanted_days, wanted_since, days)
  VALUES ($1, 'sends', 30, now() - interval '90 days', 30)
  ON CONFLICT (organization_id, kind) DO UPDATE SET wanted_days = 30, days = 30`;

const OLD_SENDS = `
  INSERT INTO sends (organization_id, id, channel, state, category, recipient, source, lane, correlation_id, created_at,
    updated_at)
  SELECT $1, gen_random_uuid(), 'email', 'sent', 'transactional', '{"address": "one@example.com"}', 'api', 0,
         gen_random_uuid(), now() - interval '60 days', now() FROM generate_series(1, $2::int)`;

const REPORTS = `
  WITH own AS (
    INSERT INTO sends (organization_id, id, channel, state, category, recipient, source, lane, correlation_id, created_at,
      updated_at)
    VALUES ($1, gen_random_uuid(), 'email', 'sent', 'transactional', '{"address": "one@example.com"}', 'api', 0,
      gen_random_uuid(), now(), now())
    RETURNING id)
  INSERT INTO provider_reports (organization_id, provider, provider_message_id, event_key, event, named_send, occurred_at,
    received_at, due_at)
  SELECT $1, 'generic', n::text, n::text, 'delivered', own.id, now(), now(), now() FROM own, generate_series(1, $2::int) AS n`;

const WAITS = `
  INSERT INTO event_waits (organization_id, event_id, contact_id, event, until, due_at, created_at)
  SELECT $1, (event ->> 'id')::uuid, (event ->> 'contactId')::uuid, event, now() - interval '1 hour', now(), now()
    FROM jsonb_array_elements($2::jsonb) AS event`;

const DELIVERIES = `
  INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, type, payload, correlation_id, state, due_at,
    created_at)
  SELECT $1, $3, gen_random_uuid(), 'core.contact.created', '{}', gen_random_uuid(), 'pending', now(), now()
    FROM generate_series(1, $2::int)`;

/** As many domains as the organization is to have, by its first. */
const COPIES = `
  INSERT INTO sender_domains (organization_id, id, domain, state, dkim_keys, findings, next_check_at, created_at, updated_at)
  SELECT organization_id, gen_random_uuid(), gen_random_uuid() || '.example.com', state, dkim_keys, '{}', now(), now(), now()
    FROM sender_domains, generate_series(2, $2::int) WHERE organization_id = $1`;

/** The number of rows that cannot be claimed: what one place has is claimed together, and so fails together. */
export const CLAIMED_AT_ONCE = 20;

/** Scenarios of works that need more than rows of one table. */
export class MessagingScenarios {
  constructor(private readonly scene: () => ScenarioWorld) {}

  /** Sends that can go on no further once they have been taken up. */
  dispatch(lane: number, source: 'api' | 'campaign' | 'identity' = 'api'): WorkScenario {
    return {
      give: (organizationId, rows) => {
        const recipient = source === 'identity' ? JSON.stringify({ link: this.anInvitation() }) : null;
        return this.run(SENDS, [organizationId, rows, lane, source, recipient]);
      },
      fault: (organizationId) =>
        ofUpdates('sends', organizationId, 'NEW.claim IS NULL OR NEW.claim IS NOT DISTINCT FROM OLD.claim'),
      left: (organizationId) => this.count('sends', organizationId, `state <> 'sent'`),
      told: () => failuresOf('dispatch'),
      // A send whose claim ends while it is handed over ends as `unknown`.
      later: (organizationId) =>
        this.dueNow('sends', 'due_at', organizationId, `state IN ('accepted', 'rendering', 'gated', 'held')`),
    };
  }

  /** Is {@link dispatch} with sends that cannot even be taken up. */
  claims(lane: number, source: 'api' | 'campaign' | 'identity' = 'api'): WorkScenario {
    const job = source === 'identity' ? 'identity-mail-claims' : 'send-claims';
    return {
      ...this.dispatch(lane, source),
      fault: (organizationId) => ofUpdates('sends', organizationId, 'NEW.claim IS DISTINCT FROM OLD.claim'),
      told: () => failuresOf(job),
      many: CLAIMED_AT_ONCE,
    };
  }

  /** Deliveries whose outcome cannot be written. */
  deliveries(): WorkScenario {
    return {
      give: async (organizationId, rows) => {
        const { apiOf, receiver } = this.scene();
        const body = { name: newId(), url: receiver.url(), events: ['core.contact.created'] };
        const answer = await apiOf(organizationId).post<{ id: string }>(
          '/v1/messaging/webhook-endpoints',
          body,
        );
        expectStatus(answer, 201);
        await this.run(DELIVERIES, [organizationId, rows, answer.body.id]);
      },
      fault: (organizationId) => ofUpdates('webhook_deliveries', organizationId, `NEW.state = 'delivered'`),
      left: (organizationId) => this.count('webhook_deliveries', organizationId, `state <> 'delivered'`),
      told: () => failuresOf('webhook-outcomes'),
      later: (organizationId) => this.dueNow('webhook_deliveries', 'due_at', organizationId),
    };
  }

  /** Is {@link deliveries} with those that cannot even be taken up. */
  deliveryClaims(): WorkScenario {
    return {
      ...this.deliveries(),
      fault: (organizationId) =>
        ofUpdates('webhook_deliveries', organizationId, 'NEW.claim IS DISTINCT FROM OLD.claim'),
      told: () => failuresOf('webhook-claims'),
      many: CLAIMED_AT_ONCE,
    };
  }

  /** Events that have waited for their contact long enough, and that no rule answers to. */
  waits(): WorkScenario {
    const event = (organizationId: string): object => {
      const id = newId();
      const data = { event: 'invoice_paid', properties: {} };
      const type = 'core.event.recorded';
      return { organizationId, id, contactId: newId(), correlationId: id, type, name: 'invoice_paid', data };
    };
    return {
      give: (organizationId, rows) => {
        const events = Array.from({ length: rows }, () => event(organizationId));
        return this.run(WAITS, [organizationId, JSON.stringify(events)]);
      },
      fault: (organizationId) => ({
        table: 'event_waits',
        on: 'DELETE',
        when: `OLD.organization_id = '${organizationId}'`,
      }),
      left: (organizationId) => this.count('event_waits', organizationId),
      later: (organizationId) => this.dueNow('event_waits', 'due_at', organizationId),
    };
  }

  /** Reports that cannot be settled. */
  reports(): WorkScenario {
    return {
      give: (organizationId, rows) => this.run(REPORTS, [organizationId, rows]),
      fault: (organizationId) => ofUpdates('provider_reports', organizationId, 'NEW.applied_at IS NOT NULL'),
      left: (organizationId) => this.count('provider_reports', organizationId, 'applied_at IS NULL'),
      later: (organizationId) => this.dueNow('provider_reports', 'due_at', organizationId),
    };
  }

  /** Is {@link waits} with those that cannot even be taken up. */
  waitClaims(): WorkScenario {
    return {
      ...this.waits(),
      fault: (organizationId) => ofUpdates('event_waits', organizationId, 'true'),
      told: () => failuresOf('waiting-event-claims'),
      many: CLAIMED_AT_ONCE,
    };
  }

  /** Is {@link reports} with those that cannot even be taken up. */
  reportClaims(): WorkScenario {
    return {
      ...this.reports(),
      fault: (organizationId) => ofUpdates('provider_reports', organizationId, 'true'),
      told: () => failuresOf('provider-report-claims'),
      many: CLAIMED_AT_ONCE,
    };
  }

  /** Domains of which nothing can be noted. */
  domains(): WorkScenario {
    return {
      give: async (organizationId, rows) => {
        const domain = `${newId()}.example.com`;
        expectStatus(await this.scene().apiOf(organizationId).post(DOMAINS, { domain }), 201);
        await this.run(COPIES, [organizationId, rows]);
        await this.run('UPDATE sender_domains SET next_check_at = now() WHERE organization_id = $1', [
          organizationId,
        ]);
      },
      fault: (organizationId) =>
        ofUpdates('sender_domains', organizationId, 'NEW.checked_at IS DISTINCT FROM OLD.checked_at'),
      left: (organizationId) => this.count('sender_domains', organizationId, 'checked_at IS NULL'),
      later: (organizationId) =>
        this.dueNow('sender_domains', 'next_check_at', organizationId, 'checked_at IS NULL'),
    };
  }

  /** Is {@link domains} with those that cannot even be taken up. */
  domainLeases(): WorkScenario {
    const isLeased = `NEW.next_check_at > now() + interval '5 minutes'`;
    return {
      ...this.domains(),
      fault: (organizationId) => ofUpdates('sender_domains', organizationId, isLeased),
      many: CLAIMED_AT_ONCE,
    };
  }

  /** Sends whose content has been kept for as long as the organization wants. */
  retention(): WorkScenario {
    return {
      give: async (organizationId, rows) => {
        const { registry } = this.scene().world.app;
        registry.organization(organizationId, { settings: { retention: { sends_days: 30 } } });
        await this.run(PERIOD, [organizationId]);
        await this.run(OLD_SENDS, [organizationId, rows]);
      },
      fault: (organizationId) => ofUpdates('sends', organizationId, 'NEW.content_removed_at IS NOT NULL'),
      left: async (organizationId) => {
        // A pass that asked identity before it knew of the period has forgotten it since.
        await this.run(PERIOD, [organizationId]);
        return this.count('sends', organizationId, 'content_removed_at IS NULL');
      },
      told: async (organizationId) => {
        await this.run(PERIOD, [organizationId]);
        return failuresOf('organization-retention');
      },
    };
  }

  /** Makes rows due that wait to be looked at again. */
  dueNow(table: string, column: string, organizationId: string, which = 'true'): Promise<void> {
    return this.run(
      `UPDATE ${table} SET ${column} = '2026-01-01'
        WHERE organization_id = $1 AND ${column} > '2026-01-01' AND ${which}`,
      [organizationId],
    );
  }

  /** As identity answers for its link. */
  private anInvitation(): { kind: 'invitation'; id: string } {
    const id = newId();
    this.scene().world.app.registry.link(`invitation/${id}`, {
      address: `${id}@example.com`,
      link: `https://console.example/console/invitation#token=${id}`,
      organization_name: 'Tienda',
      platform_organization_id: newId(),
    });
    return { kind: 'invitation', id };
  }

  private async run(statement: string, values: unknown[]): Promise<void> {
    await this.scene().world.database.query(statement, values);
  }

  private async count(table: string, organizationId: string, which = 'true'): Promise<number> {
    const rows = await this.scene().world.database.query(
      `SELECT FROM ${table} WHERE organization_id = $1 AND ${which}`,
      [organizationId],
    );
    return rows.length;
  }
}

function ofUpdates(table: string, organizationId: string, when: string): Fault {
  return { table, on: 'UPDATE', when: `NEW.organization_id = '${organizationId}' AND (${when})` };
}

/** Of a job whose failures have a name of their own. */
async function failuresOf(job: string): Promise<number> {
  const text = await metrics.getSingleMetricAsString('job_failures_total');
  const line = text.split('\n').find((one) => one.includes(`{job_name="${job}"}`));
  return Number(line?.split(' ').at(-1) ?? 0);
}
