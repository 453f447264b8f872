import { randomInt, randomUUID } from 'node:crypto';
import { eventually, expectStatus, type Answer, type Tenant } from '@customer-platform/testing';
import { contactOf, EVENT } from './chain.fixture.js';

const SETTLED = { within: 60_000 };

/** The check digit of a Chilean RUT, modulo 11. */
export function checkDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, at) => total + Number(digit) * (2 + (at % 6)), 0);
  const rest = 11 - (sum % 11);
  return rest === 11 ? '0' : rest === 10 ? 'K' : String(rest);
}

/** Somebody of whom something stands wherever the platform keeps anything of a person. */
export class ErasablePerson {
  private readonly mark = randomUUID().slice(-10);
  private readonly rut = String(randomInt(12_000_000, 25_000_000));
  private readonly digit = checkDigit(this.rut);
  private readonly mobile = `9${String(randomInt(50_000_000, 89_999_999))}`;
  readonly email = `Ana.${this.mark}@Example.com`;
  readonly externalId = `Ext-${this.mark}`;
  private readonly dotted = this.rut.replaceAll(/\B(?=(\d{3})+$)/g, '.');
  private readonly said = {
    ...{ firstName: `Begoña-${this.mark}`, lastName: `Núñez Ibáñez-${this.mark}` },
    rutDotted: `${this.dotted}-${this.digit}`,
    rutHyphened: `${this.rut}-${this.digit}`,
    rutPlain: `${this.rut}${this.digit}`,
    phonePlain: `56${this.mobile}`,
    phoneSpaced: `9 ${this.mobile.slice(1, 5)} ${this.mobile.slice(5)}`,
    phoneHyphened: `${this.mobile.slice(0, 5)}-${this.mobile.slice(5)}`,
    birthDate: '1931-02-07',
    ...{ email: this.email, externalId: this.externalId, mergedEmail: `old.${this.mark}@example.com` },
    ...{ mergedExternalId: `Old-${this.mark}`, anonymousId: `anon-a-${this.mark}` },
    ...{
      secondAnonymousId: `anon-b-${this.mark}`,
      deviceId: `device-${this.mark}`,
      custom: `card-${this.mark}`,
    },
    ...this.labeled('attribute', 'property', 'evidence', 'note', 'subject', 'description', 'request'),
    ...this.labeled('reference', 'correction', 'outcome', 'detail', 'data', 'metadata', 'content', 'letter'),
    ...this.labeled('row', 'column', 'answer', 'plate', 'remark'),
  };
  /** Each by what it is, as it is sought. */
  readonly sought: Readonly<Record<keyof typeof this.said, string>> = Object.fromEntries(
    Object.entries(this.said).map(([what, text]) => [what, text.normalize('NFC').toLowerCase()]),
  ) as Record<keyof typeof this.said, string>;

  constructor(private readonly tenant: Tenant) {}

  /** Leaves all of it behind. @returns the contact */
  async leave(): Promise<string> {
    const { said } = this;
    const contactId = await this.comeByEvents();
    await this.beMerged(contactId);
    const path = `/v1/core/contacts/${contactId}`;
    for (const [type, value] of [
      ['anonymous_id', said.secondAnonymousId],
      ['device_id', said.deviceId],
      ['custom.card', said.custom],
    ])
      await this.done(`${path}/identities`, { type, value });
    const evidence = { said: said.evidence, by: said.rutDotted };
    const consent = { purpose: 'marketing', status: 'granted', notice_version: '1', method: 'web', evidence };
    await this.done(`${path}/consents`, consent);
    await this.done('/v1/crm/notes', {
      contact_id: contactId,
      body: `${said.note} ${said.rutPlain} ${said.phoneSpaced} ${said.firstName.normalize('NFD')}`,
    });
    const type = await this.done<{ id: string }>('/v1/crm/activity-types', {
      key: `k_${this.mark}`,
      name: this.tenant.slug,
    });
    const activity = { subject: said.subject, description: `${said.description} ${said.phoneHyphened}` };
    await this.done('/v1/crm/activities', { contact_id: contactId, type_id: type.body.id, ...activity });
    await this.ownSomething(contactId);
    await this.beWrittenTo(contactId);
    await this.beImported();
    await this.ask(contactId);
    return contactId;
  }

  /** A record that goes with its owner: indexed, unique and plain values. */
  private async ownSomething(contactId: string): Promise<void> {
    const slug = `v_${this.mark.replaceAll('-', '_')}`;
    const fields = [
      { key: 'owner', type: 'reference', target: 'contact', indexed: true },
      { key: 'plate', type: 'string', unique: true },
      { key: 'remark', type: 'string' },
    ];
    await this.done('/v1/crm/object-definitions', { slug, name: this.tenant.slug, fields });
    const values = { owner: contactId, plate: this.said.plate, remark: this.said.remark };
    await this.done(`/v1/crm/objects/${slug}`, { values });
  }

  private labeled<Name extends string>(...names: Name[]): Record<Name, string> {
    return Object.fromEntries(names.map((name) => [name, `${name}-${this.mark}`])) as Record<Name, string>;
  }

  private async done<T>(path: string, body: object): Promise<Answer<T>> {
    const answer = await this.tenant.admin.post<T>(path, body, { 'idempotency-key': randomUUID() });
    if (answer.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
    return answer;
  }

  /** Identifies in writings that differ, buys, and repeats a key with another body: a dead letter. */
  private async comeByEvents(): Promise<string> {
    const { said } = this;
    const { ingestion, admin } = this.tenant;
    const common = { external_id: said.externalId, occurred_at: new Date(Date.now() - 60_000).toISOString() };
    const traits = {
      ...{ email: said.email.toUpperCase(), first_name: said.firstName, last_name: said.lastName },
      ...{ phone: said.phoneSpaced, country: 'CL', birth_date: said.birthDate, plan: said.attribute },
    };
    const identities = [{ type: 'anonymous_id', value: said.anonymousId }];
    const identify = { ...common, idempotency_key: randomUUID(), traits, identities };
    expectStatus(await ingestion.post('/v1/core/identify', identify), 202);
    const contactId = await contactOf(admin, said.externalId);
    const properties = { amount: 12_990, currency: 'CLP', invoice_id: said.property, rut: said.rutHyphened };
    const event = {
      ...common,
      occurred_at: new Date().toISOString(),
      event: EVENT,
      idempotency_key: randomUUID(),
      properties,
    };
    expectStatus(await ingestion.post('/v1/core/track', event), 202);
    expectStatus(
      await ingestion.post('/v1/core/track', { ...event, properties: { said: said.letter } }),
      202,
    );
    const national_id = { type: 'CL_RUT', value: said.rutDotted };
    expectStatus(await admin.patch(`/v1/core/contacts/${contactId}`, { national_id }), 200);
    return contactId;
  }

  private async beMerged(survivor_id: string): Promise<void> {
    const { said } = this;
    const old = {
      external_id: said.mergedExternalId,
      email: said.mergedEmail,
      attributes: { said: said.answer },
    };
    const merged = await this.done<{ id: string }>('/v1/core/contacts', old);
    const merge = { survivor_id, merged_id: merged.body.id, reason: 'The same person' };
    await this.done('/v1/core/contacts/merge', merge);
  }

  /** A message now, one that waits with all it is made of, and webhooks that nobody takes. */
  private async beWrittenTo(contact_id: string): Promise<void> {
    const { said } = this;
    const send = {
      ...{ channel: 'email', recipient: { contact_id }, metadata: { said: said.metadata } },
      ...{ content: { subject: 'Hi', text: `${said.content} {{ data.said }}` }, data: { said: said.data } },
    };
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    for (const more of [{}, { not_before: inAnHour }])
      await eventually(() => this.done('/v1/messaging/sends', { ...send, ...more }), SETTLED);
    await this.done('/v1/messaging/suppressions', {
      channel: 'email',
      address: said.mergedEmail,
    });
  }

  /** The first row says which columns there are; then one without a right address, and one with a column more. */
  private async beImported(): Promise<void> {
    const { said } = this;
    const form = new FormData();
    const mapping = { id: 'external_id', mail: 'email', plan: 'attributes.plan' };
    form.append('options', JSON.stringify({ format: 'jsonl', mapping }));
    const wrong = [
      { id: said.externalId, mail: `no address ${said.row}` },
      { id: said.externalId, [said.column]: said.rutPlain },
    ];
    const right = { id: said.externalId, plan: said.attribute };
    const rows = [right, ...wrong].map((row) => `${JSON.stringify(row)}\n`);
    form.append('file', new Blob(rows), 'people.jsonl');
    const sent = new Response(form);
    const bytes = new Uint8Array(await sent.arrayBuffer());
    const headers = { 'content-type': sent.headers.get('content-type') ?? '' };
    const opened = await this.tenant.admin.call<{ id: string }>('POST', '/v1/core/imports', {
      bytes,
      headers,
    });
    expectStatus(opened, 202);
    await this.inState(`/v1/core/imports/${opened.body.id}`);
  }

  /** An archive that is ready, one that was verified, a rectification, and one that was refused. */
  private async ask(contact_id: string): Promise<void> {
    const { said } = this;
    const verification = { method: 'clave_unica', reference: said.reference };
    const requests = '/v1/core/subject-requests';
    const access = await this.done<{ id: string }>(requests, { type: 'access', contact_id, verification });
    await this.inState(`${requests}/${access.body.id}`);
    const corrections = [{ field: 'last_name', value: said.correction }];
    const note = said.request;
    await this.done(requests, { type: 'rectification', contact_id, corrections, note, verification });
    const blocking = await this.done<{ id: string }>(requests, {
      type: 'blocking',
      contact_id,
      verification,
    });
    const completion = { outcome: said.outcome };
    expectStatus(await this.tenant.admin.patch(`${requests}/${blocking.body.id}`, { completion }), 200);
    const refused = await this.done<{ id: string }>(requests, { type: 'erasure', contact_id, note });
    const rejection = { ground: 'not_verified', detail: said.detail };
    expectStatus(await this.tenant.admin.patch(`${requests}/${refused.body.id}`, { rejection }), 200);
  }

  private async inState(path: string): Promise<void> {
    await eventually(async () => {
      const { body } = await this.tenant.admin.get<{ state: string }>(path);
      expect(body.state).toBe('completed');
    }, SETTLED);
  }
}
