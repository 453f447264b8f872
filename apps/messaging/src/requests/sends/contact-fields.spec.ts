import { randomUUID } from 'node:crypto';
import type { Caller } from '@customer-platform/testing';
import {
  aContact,
  aSend,
  aTemplate,
  ALL_PERMISSIONS,
  messagingWorld,
  send,
  settled,
  template,
  type MessagingWorld,
} from '../../messaging.fixture.js';

const SENDS = '/v1/messaging/sends';
const TEMPLATES = '/v1/messaging/templates';
/** The rights of a low member who wants to know contacts: everything of messaging, and no contact. */
const BLIND = ALL_PERMISSIONS.filter((permission) => permission !== 'core.contacts.read');

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld();
});
afterAll(() => world.close());

/** An organization with a contact that messaging knows. */
async function setting() {
  const { id, api } = world.organization();
  const contact = aContact({ last_name: `Secret-${randomUUID()}` });
  await world.probe.publish({
    type: 'core.contact.created.v1',
    organizationId: id,
    data: { contact_id: contact.id, version: 1, changed_fields: [], contact },
  });
  const any = await template(api);
  for (;;) {
    const { status } = await api.post(`${TEMPLATES}/${any}/preview`, { contact_id: contact.id });
    if (status === 200) break;
    // Until Kafka has told of the contact, core is asked, and in this test there is none.
    expect(status).toBe(503);
  }
  return { contact, api, blind: world.app.as(id, BLIND) };
}

const text = (subject: string) => ({ locales: { es: { subject, html: '<p>Gracias</p>' } } });

const post = (api: Caller, body: object) =>
  api.post<{ code: string }>(SENDS, body, { 'idempotency-key': randomUUID() });

describe('POST /v1/messaging/sends by who may not read contacts', () => {
  it.each([
    ['a field', '{{ contact.last_name }}'],
    ['a condition', '{% if contact.last_name contains "Secret" %}yes{% endif %}'],
    ['an oracle', '{% if contact.last_name < "T" %}{{ data.nope }}{% endif %}'],
    ['another name', '{% assign it = contact %}{{ it.last_name }}'],
  ])('403 for words of their own with %s of the contact', async (_what, subject) => {
    const { blind, contact, api } = await setting();
    for (const recipient of [
      { contact_id: contact.id },
      { external_id: contact.external_id },
      { address: contact.email },
    ]) {
      const body = aSend({ recipient, content: { subject, text: 'x' } });
      expect(await post(blind, body)).toMatchObject({
        status: 403,
        body: { code: 'permission_denied', permission: 'core.contacts.read' },
      });
    }
    const list = await api.get<{ data: object[] }>(`${SENDS}?contact_id=${contact.id}`);
    expect(list.body.data).toEqual([]);
  });

  it('fails as not_permitted where the name of what is read is made while it is rendered', async () => {
    const { blind, contact } = await setting();
    const to = { recipient: { contact_id: contact.id } };
    for (const subject of ['{{ [data.it].last_name }}', '{% if [data.it] %}{% endif %}x']) {
      const content = { subject, text: 'x' };
      const id = await send(blind, aSend({ ...to, content, data: { it: 'contact' } }));
      expect(await settled(blind, id, 'failed', 'sent')).toMatchObject({
        state: 'failed',
        reason: 'not_permitted',
        subject: null,
      });
    }
  });

  it('fails as not_permitted where they have published the text, and for nobody who may read it', async () => {
    const { blind, contact, api } = await setting();
    const template_id = await template(blind, text('{{ contact.last_name }}'));
    const body = aSend({ recipient: { contact_id: contact.id }, content: undefined, template_id });
    expect(await settled(blind, await send(blind, body), 'failed', 'sent')).toMatchObject({
      state: 'failed',
      reason: 'not_permitted',
    });
    expect(await settled(api, await send(api, body), 'failed', 'sent')).toMatchObject({
      state: 'sent',
      subject: contact.last_name,
    });
  });

  it('says what somebody published who may read contacts, also after somebody who may not has gone back to it', async () => {
    const { blind, contact, api } = await setting();
    const template_id = await template(api, text('{{ contact.last_name }}'));
    const body = aSend({ recipient: { contact_id: contact.id }, content: undefined, template_id });
    expect(await settled(blind, await send(blind, body), 'failed', 'sent')).toMatchObject({ state: 'sent' });
    for (const change of [text('{{ contact.email }}'), { published_version: 1 }])
      expect((await blind.patch(`${TEMPLATES}/${template_id}`, change)).status).toBe(200);
    const again = await settled(blind, await send(blind, body), 'failed', 'sent');
    expect(again).toMatchObject({ state: 'sent', subject: contact.last_name });
  });

  it('goes on with texts that were published before it was noted by whom', async () => {
    const { blind, contact, api } = await setting();
    const template_id = await template(api, text('{{ contact.last_name }}'));
    await world.database.query('DELETE FROM template_publishers WHERE template_id = $1', [template_id]);
    const body = aSend({ recipient: { contact_id: contact.id }, content: undefined, template_id });
    expect(await settled(blind, await send(blind, body), 'failed', 'sent')).toMatchObject({ state: 'sent' });
  });

  it('is answered as before where the same was accepted under the key already', async () => {
    const { blind, contact, api } = await setting();
    const subject = '{{ contact.last_name }}';
    const body = aSend({ recipient: { contact_id: contact.id }, content: { subject, text: 'Gracias' } });
    const headers = { 'idempotency-key': randomUUID() };
    const first = await api.post<{ id: string }>(SENDS, body, headers);
    expect(first.status).toBe(202);
    const again = await blind.post<{ id: string }>(SENDS, body, headers);
    expect([again.status, again.body.id]).toEqual([202, first.body.id]);
    expect((await post(blind, body)).status).toBe(403);
  });

  it('needs nothing where no field of a contact is read', async () => {
    const { blind, contact } = await setting();
    const to = { recipient: { contact_id: contact.id }, data: { contact: { name: 'Ana' } } };
    const own = { subject: 'Contact us, {{ data.contact.name }}', text: '{{ unsubscribe_url }}' };
    const template_id = await template(blind, aTemplate(text('{{ data.contact.name }}')));
    for (const what of [{ content: own }, { content: undefined, template_id }])
      expect(
        await settled(blind, await send(blind, aSend({ ...to, ...what })), 'failed', 'sent'),
      ).toMatchObject({ state: 'sent', address: contact.email });
  });
});
