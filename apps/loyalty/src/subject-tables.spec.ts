import { randomUUID } from 'node:crypto';
import type { SubjectPage } from '@customer-platform/database';
import {
  type Answer,
  type KafkaProbe,
  kafkaProbe,
  peerModule,
  type TestApp,
  expectProblem,
  expectStatus,
} from '@customer-platform/testing';
import { aLoyaltyWorld, aRecordedEvent, MARKERS, startLoyalty } from './loyalty.fixture.js';

const ROWS = '/internal/subject-rows';

let app: TestApp;
let probe: KafkaProbe;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ app, close } = await startLoyalty());
  probe = kafkaProbe(app);
  probe.collect('loyalty');
});
afterAll(() => close());

it('gives core the points of a person, and nobody else’s', async () => {
  const world = aLoyaltyWorld(app, probe);
  await world.rule({ formula: { type: 'fixed', points: 10 } });
  const [event, other] = [aRecordedEvent(), aRecordedEvent()];
  await world.record(event, other);
  const core = await peerModule('core', 'loyalty', app.internalUrl);
  const question = {
    organization_id: world.organizationId,
    contact_ids: [event.contact_id],
    portable: false,
  };
  const found = new Map<string | null, Record<string, unknown>[]>();
  let after: object | undefined = {};
  while (after !== undefined) {
    const answer: Answer<SubjectPage> = await core.post<SubjectPage>(ROWS, { ...question, ...after });
    expectStatus(answer, 200);
    const { resource, rows, next } = answer.body;
    found.set(
      resource,
      rows.map((row) => JSON.parse(row) as Record<string, unknown>),
    );
    after = next
      ? { after_resource: next.resource, after_contact_id: next.contact_id, after_place: next.place }
      : undefined;
  }
  expect([...found.keys()]).toEqual(['transactions', 'lots', 'balances']);
  expect(found.get('balances')).toEqual([{ points: 10 + MARKERS }]);
  expect(found.get('transactions')).toContainEqual(
    expect.objectContaining({ kind: 'earn', points: 10, event_id: event.event_id }),
  );
  expect(JSON.stringify([...found])).not.toContain(other.event_id);
  for (const elsewhere of [{ portable: true }, { organization_id: randomUUID() }])
    expect((await core.post(ROWS, { ...question, ...elsewhere })).body).toEqual({
      resource: null,
      rows: [],
      next: null,
    });
  const crm = await peerModule('crm', 'loyalty', app.internalUrl);
  expectProblem(await crm.post(ROWS, question), 403, 'permission_denied');
});
