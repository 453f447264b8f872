import { randomUUID } from 'node:crypto';
import { DnsServer, expectStatus, type Caller, type TestApp } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { DnsPatience } from './dns/dns-answers.js';
import { DomainRecheck } from './domain-recheck.js';
import type { SenderDomainDto, SenderDomainRecordDto } from './sender-domain.dto.js';

/** Where they are. */
export const DOMAINS = '/v1/messaging/sender-domains';
/** What the SPF record of a domain is to include. */
export const INCLUDED = 'spf.platform.example.com';
/** In milliseconds. */
export const HOUR = 3_600_000;

/** A domain of a fresh organization. */
interface OwnDomain {
  readonly organizationId: string;
  readonly api: Caller;
  /** As it was created. */
  readonly body: SenderDomainDto;
  verify(): Promise<SenderDomainDto>;
  read(): Promise<SenderDomainDto>;
}

/** Messaging beside a name server; it looks at no domain by itself, and what it tells stays in the outbox. */
export interface VerificationWorld {
  readonly messaging: MessagingWorld;
  readonly dns: DnsServer;
  /** What another instance needs to be told to be like this one. */
  readonly env: Record<string, string>;
  aDomain(name?: string): Promise<OwnDomain>;
  /** Publishes the records of a domain, or those for one purpose. */
  publish(domain: SenderDomainDto, ...purposes: string[]): void;
  /** As if the domain had been without its records for so long, and were due. */
  age(domain: OwnDomain, milliseconds: number | null): Promise<void>;
  /** Looks at all that are due. */
  recheck(): Promise<void>;
  /** The events of an organization's domains, oldest first. */
  told(domain: OwnDomain): Promise<string[]>;
  close(): Promise<void>;
}

/** Starts it, with these variables beside its own. */
export async function verificationWorld(more: Record<string, string> = {}): Promise<VerificationWorld> {
  const dns = await DnsServer.start();
  const env = {
    PROCESS_ROLE: 'api',
    SENDER_DNS_SERVERS: dns.address,
    SENDER_SPF_INCLUDE: INCLUDED,
    ...more,
  };
  const messaging = await messagingWorld({ consume: false, env });
  beGenerous(messaging.app);
  dns.publish({ name: INCLUDED, value: 'v=spf1 ip4:192.0.2.0/24 -all' });
  return {
    messaging,
    dns,
    env,
    aDomain: (name = `m${randomUUID()}.example.com`) => aDomain(messaging, name),
    publish: ({ records }, ...purposes) => {
      for (const each of records)
        if (purposes.length === 0 || purposes.includes(each.purpose)) dns.publish(each);
    },
    age: (domain, milliseconds) => age(messaging, domain, milliseconds),
    recheck: () => messaging.app.app.get(DomainRecheck, { strict: false }).runAll(),
    told: (domain) => told(messaging, domain),
    close: async () => {
      await messaging.close();
      await dns.close();
    },
  };
}

/** The name server shares its loop with all else of a spec: an answer may take long. */
export function beGenerous({ app }: TestApp): void {
  Object.assign(app.get(DnsPatience, { strict: false }), { tryMs: 30_000, checkMs: 90_000 });
}

/** The first record of a domain for a purpose. */
export function record({ records }: SenderDomainDto, purpose: string): SenderDomainRecordDto {
  const found = records.find((each) => each.purpose === purpose);
  if (!found) throw new Error(`no record for ${purpose}`);
  return found;
}

async function aDomain(messaging: MessagingWorld, domain: string): Promise<OwnDomain> {
  const { id: organizationId, api } = messaging.organization();
  const created = await api.post<SenderDomainDto>(DOMAINS, { domain });
  expectStatus(created, 201);
  const { id } = created.body;
  return {
    organizationId,
    api,
    body: created.body,
    verify: async () => {
      const answer = await api.post<SenderDomainDto>(`${DOMAINS}/${id}/verify`);
      expectStatus(answer, 200);
      return answer.body;
    },
    read: async () => (await api.get<SenderDomainDto>(`${DOMAINS}/${id}`)).body,
  };
}

async function age({ database }: MessagingWorld, { body }: OwnDomain, milliseconds: number | null) {
  const since = milliseconds === null ? null : new Date(Date.now() - milliseconds);
  await database.query(
    `UPDATE sender_domains SET failing_since = $2, next_check_at = now() - interval '1 second' WHERE id = $1`,
    [body.id, since],
  );
}

async function told({ database }: MessagingWorld, { organizationId }: OwnDomain): Promise<string[]> {
  const rows = await database.query<{ type: string }>(
    `SELECT substring(messages::text FROM 'messaging[.]sender_domain[.]([a-z]+)[.]v1') AS type FROM outbox
      WHERE organization_id = $1 AND messages::text LIKE '%messaging.sender_domain.%' ORDER BY id`,
    [organizationId],
  );
  return rows.map(({ type }) => type);
}
