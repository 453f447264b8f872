import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import type { Answer, RequestContext } from '@customer-platform/http';
import type { Permission } from '@customer-platform/permissions';
import { Problem } from '@customer-platform/problem-json';
import { aContext as aRequest, anOrganization } from '@customer-platform/testing';
import {
  aContact,
  messagingWorld,
  send,
  settled,
  shown,
  template,
  type MessagingWorld,
} from '../../messaging.fixture.js';
import type { TestTemplateDto } from './template-trials.dto.js';
import { TemplateTest } from './template-test.service.js';
import { UserAddresses } from './user-addresses.js';

const TEMPLATES = '/v1/messaging/templates';
const SUPPRESSIONS = '/v1/messaging/suppressions';

let world: MessagingWorld;
let tests: TemplateTest;
beforeAll(async () => {
  world = await messagingWorld();
  tests = world.app.app.get(TemplateTest, { strict: false });
});
afterAll(() => world.close());

/** A member of an organization who asks, with where they are written to. */
function aUser(
  organizationId: string,
  impersonatorId?: string,
  permissions?: readonly Permission[],
): { context: RequestContext; address: string } {
  const id = randomUUID();
  world.app.registry.membership(organizationId, id);
  const user = { type: 'user' as const, id };
  const context = aRequest({
    organization: anOrganization({ id: organizationId }),
    principal: user,
    ...(permissions === undefined ? {} : { permissions }),
    actor: { ...user, ...(impersonatorId === undefined ? {} : { impersonatorId }) },
  });
  return { context, address: `${id}@staff.example.com` };
}

const sendTo = (context: RequestContext, id: string, dto: TestTemplateDto = {}): Promise<Answer> =>
  tests.send(context, id, dto);

async function codeOf(run: Promise<Answer>): Promise<string> {
  const ended = await run.catch((error: unknown) => error);
  if (ended instanceof Problem) return ended.code;
  if (ended instanceof Error) throw ended;
  return 'accepted';
}

describe('POST /v1/messaging/templates/{id}/test', () => {
  it('needs no right to read contacts: there is none in it', async () => {
    const { id: organizationId, api } = world.organization();
    const user = aUser(organizationId, undefined, ['messaging.templates.update']);
    const id = await template(api, { locales: { es: { subject: '[{{ contact.first_name }}]', html: '1' } } });
    const { send_id: sendId } = (await sendTo(user.context, id)).body as { send_id: string };
    expect(await settled(api, sendId, 'sent', 'failed')).toMatchObject({ state: 'sent', subject: '[]' });
  });

  it('sends any version to the user who asks, marked, and to no contact', async () => {
    const { id: organizationId, api } = world.organization();
    const user = aUser(organizationId);
    const contact = aContact({ email: user.address, first_name: 'Ana' });
    await world.probe.publish({
      type: 'core.contact.created.v1',
      organizationId,
      data: { contact_id: contact.id, version: 1, changed_fields: [], contact },
    });
    const id = await template(api, { locales: { es: { subject: 'One', html: '<p>1</p>' } } });
    await api.patch(`${TEMPLATES}/${id}`, {
      locales: { es: { subject: 'Two {{ data.n }}[{{ contact.first_name }}]' } },
      publish: false,
    });
    const answer = await sendTo(user.context, id, { version: 2, data: { n: 7 } });
    const { send_id: sendId } = answer.body as { send_id: string };
    await settled(api, sendId, 'sent');
    const [mail] = await world.mail.parsed(user.address);
    expect(mail?.subject).toBe('Two 7[]');
    expect(mail?.text?.trim()).toBe('1');
    expect(await shown(api, sendId)).toMatchObject({
      contact_id: null,
      category: 'transactional',
      template_id: id,
      template_version: 2,
      metadata: { test: true },
      source: 'api',
      source_id: id,
    });
  });

  it('knows its own from what others mark so', async () => {
    const { id: organizationId, api } = world.organization();
    const { context, address } = aUser(organizationId);
    const id = await template(api);
    const forged = { channel: 'email', recipient: { address }, template_id: id, metadata: { test: true } };
    for (let count = 0; count < 10; count += 1) {
      expect(await shown(api, await send(api, forged))).toMatchObject({ source: 'api', source_id: null });
    }
    expect(await codeOf(sendTo(context, id))).toBe('accepted');
    const { body } = await api.get<{ data: unknown[] }>(`/v1/messaging/sends?source_id=${id}`);
    expect(body.data).toHaveLength(1);
  });

  it('refuses a template that was deleted, or purged, since it was read', async () => {
    const { id: organizationId, api } = world.organization();
    const { context } = aUser(organizationId);
    for (const [calls, code] of [
      [[''], 'resource_deleted'],
      [['', '/purge'], 'not_found'],
    ] as const) {
      const id = await template(api);
      const addresses = world.app.app.get(UserAddresses, { strict: false });
      const find = addresses.find.bind(addresses);
      const meanwhile = jest.spyOn(addresses, 'find').mockImplementation(async (...asked) => {
        for (const call of calls) expect((await api.delete(`${TEMPLATES}/${id}${call}`)).status).toBe(204);
        return find(...asked);
      });
      expect(await codeOf(sendTo(context, id))).toBe(code);
      meanwhile.mockRestore();
    }
  });

  it('403 user_required for a key, and for who acts as another', async () => {
    const { id: organizationId, api } = world.organization();
    const id = await template(api);
    const refused = { status: 403, body: { code: 'user_required' } };
    expect(await api.post(`${TEMPLATES}/${id}/test`, {})).toMatchObject(refused);
    expect(await codeOf(sendTo(aUser(organizationId, randomUUID()).context, id))).toBe('user_required');
  });

  it('422 for a channel without an address, for who is no member, and for who is suppressed', async () => {
    const { id: organizationId, api } = world.organization();
    const user = aUser(organizationId);
    const sms = await template(api, { channel: 'sms', locales: { es: { text: 'x' } } });
    expect(await codeOf(sendTo(user.context, sms))).toBe('recipient_unreachable');
    const id = await template(api);
    const gone = aUser(organizationId);
    world.app.registry.membership(organizationId, gone.context.principal.id, 'deleted');
    expect(await codeOf(sendTo(gone.context, id))).toBe('recipient_unreachable');
    await api.post(SUPPRESSIONS, { channel: 'email', address: user.address, reason: 'manual' });
    expect(await codeOf(sendTo(user.context, id))).toBe('recipient_suppressed');
  });

  it('refuses what is not there, what is deleted, and data that is missing', async () => {
    const { id: organizationId, api } = world.organization();
    const { context } = aUser(organizationId);
    const needing = await template(api, { variables: { order: { type: 'string', required: true } } });
    expect(await codeOf(sendTo(context, needing))).toBe('validation_failed');
    const id = await template(api);
    expect(await codeOf(sendTo(aUser(world.organization().id).context, id))).toBe('not_found');
    expect(await codeOf(sendTo(context, id, { version: 9 }))).toBe('validation_failed');
    await api.delete(`${TEMPLATES}/${id}`);
    expect(await codeOf(sendTo(context, id))).toBe('resource_deleted');
  });

  it('429 beyond ten, also of several at once', async () => {
    const { id: organizationId, api } = world.organization();
    const { context } = aUser(organizationId);
    const id = await template(api);
    const atOnce = await Promise.all(Array.from({ length: 12 }, () => codeOf(sendTo(context, id))));
    let accepted = atOnce.filter((code) => code === 'accepted').length;
    expect(accepted).toBeGreaterThan(0);
    for (; accepted < 10; accepted += 1) expect(await codeOf(sendTo(context, id))).toBe('accepted');
    expect(accepted).toBe(10);
    expect(await codeOf(sendTo(context, id))).toBe('rate_limited');
    expect(await codeOf(sendTo(aUser(organizationId).context, id))).toBe('accepted');
  });
});
