import { randomUUID } from 'node:crypto';
import { DEMO_CUSTOMER, DEMO_EVENT } from './demo-content.ts';

/** The facts of `.data/demo.json`. */
export interface DemoFacts {
  base_url: string;
  console_url: string;
  /** Owner of the demo organization, who signs in to the Console. */
  user_email?: string;
  user_password?: string;
  console_registered_at?: string;
  core_url: string;
  mail_url: string;
  organization_id: string;
  ingestion_key: string;
  admin_key: string;
  contact_id: string;
  kafka_brokers: string;
  /** As each module's own role, which row level security binds. */
  database_urls: Record<string, string>;
  /** The server as its administrator, whom nothing binds. */
  postgres_url: string;
}

/** Three commands that work when pasted: track; the timeline; the mail. */
export function curlLines(facts: DemoFacts, at = new Date(), key = randomUUID()): string[] {
  const purchase = {
    event: DEMO_EVENT,
    external_id: DEMO_CUSTOMER.external_id,
    idempotency_key: key,
    occurred_at: at.toISOString(),
    properties: { amount: 12_990, currency: 'CLP', invoice_id: 'B-1001' },
  };
  return [
    `curl -sS ${facts.base_url}/v1/core/track -H 'Authorization: Bearer ${facts.ingestion_key}' -H 'Content-Type: application/json' -d '${JSON.stringify(purchase)}'; sleep 2`,
    `curl -sS '${facts.base_url}/v1/crm/contacts/${facts.contact_id}/timeline?limit=5' -H 'Authorization: Bearer ${facts.admin_key}'`,
    `curl -sS '${facts.mail_url}/messages?to=${DEMO_CUSTOMER.traits.email}&limit=1&wait=20'`,
  ];
}

function signInLines({ console_url, user_email, user_password = '' }: DemoFacts): string[] {
  const signIn = user_email === undefined ? [] : [`Sign in as ${user_email} with ${user_password}`];
  return [`The Console is at ${console_url}`, ...signIn];
}

/** What a person reads when everything runs. */
export function summary(facts: DemoFacts, elapsed: string): string[] {
  const [track, timeline, mail] = curlLines(facts);
  return [
    '',
    `Ready in ${elapsed}.`,
    '',
    `  Console           ${facts.console_url}`,
    ...(facts.user_email === undefined
      ? []
      : [`  Sign in as        ${facts.user_email}`, `  Password          ${facts.user_password ?? ''}`]),
    `  API               ${facts.base_url}`,
    `  Mail              ${facts.mail_url}`,
    `  Ingestion key     ${facts.ingestion_key}`,
    `  Administrator key ${facts.admin_key}`,
    '',
    'Track a purchase of 12,990 CLP, which earns 12 points and causes a mail:',
    track as string,
    '',
    `Look at the timeline of ${DEMO_CUSTOMER.traits.first_name}: event, points and mail, with one correlation id:`,
    timeline as string,
    '',
    'Read the mail:',
    mail as string,
    '',
    // Again, because a terminal of 24 lines has scrolled the first ones away.
    ...signInLines(facts),
    'Ctrl-C stops everything.',
    '',
  ];
}
