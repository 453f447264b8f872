import { connectEventBus, RecordConsumers } from '@customer-platform/event-bus';
import { AUDIT_TOPIC, type AuditEntry } from '@customer-platform/audit';
import {
  anOrganization,
  eventually,
  expectProblem,
  itBehavesLikeASoftDeletableResource,
  kafkaProbe,
  startTestApp,
  testDatabase,
  unknownId,
  type ResourceItem,
  type TestApp,
  type TestDatabase,
} from '../src/index.js';
import { WIDGET_MIGRATIONS, WidgetsModule } from './widgets.module.js';

const PERMISSIONS = {
  read: 'loyalty.rules.read',
  create: 'loyalty.rules.create',
  update: 'loyalty.rules.update',
  delete: 'loyalty.rules.delete',
  purge: 'loyalty.rules.purge',
} as const;

describe('a module put together from the libraries', () => {
  let database: TestDatabase;
  let app: TestApp;
  beforeAll(async () => {
    database = await testDatabase('loyalty', WIDGET_MIGRATIONS);
    app = await startTestApp({ module: 'loyalty', root: WidgetsModule, database, connect: connectEventBus });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  describe('its resource', () => {
    itBehavesLikeASoftDeletableResource({
      app: () => app,
      path: '/v1/loyalty/widgets',
      permissions: PERMISSIONS,
      body: (number) => ({ name: `widget ${number}` }),
      patch: (number) => ({ weight: number }),
      unique: 'name',
    });
  });

  it('commits a change with its audit row and publishes both row and event', async () => {
    const { id: organizationId } = anOrganization();
    const key = app.registry.key({ organizationId, permissions: Object.values(PERMISSIONS) });
    const caller = app.with(key);
    const correlation = unknownId();
    const created = await caller.post<ResourceItem>(
      '/v1/loyalty/widgets',
      { name: 'Ana Pérez' },
      { 'X-Correlation-Id': correlation },
    );
    await caller.patch(`/v1/loyalty/widgets/${created.body.id}`, { weight: 3 });
    await caller.delete(`/v1/loyalty/widgets/${created.body.id}`);

    const probe = kafkaProbe(app);
    probe.collect('loyalty');
    const entries: AuditEntry[] = [];
    app.app.get(RecordConsumers).consume({
      topic: AUDIT_TOPIC,
      group: `probe-${unknownId()}`,
      eachChunk: async (records) => {
        const all = records.map(({ value }) => JSON.parse(value.toString('utf8')) as AuditEntry);
        entries.push(...all.filter((entry) => entry.organization_id === organizationId));
      },
    });
    const [event] = await probe.expectEvents('loyalty.rule.created.v1', organizationId, 1);
    expect(event).toMatchObject({
      correlationid: correlation,
      data: { id: created.body.id, changed: ['name'] },
    });
    await eventually(() => expect(entries).toHaveLength(3));
    expect(entries.map(({ action, changed_fields: fields }) => [action, fields])).toEqual([
      ['loyalty.rules.create', ['name']],
      ['loyalty.rules.update', ['weight']],
      ['loyalty.rules.delete', ['deleted_at']],
    ]);
    const [row] = await database.query<Record<string, unknown>>(
      'SELECT * FROM audit_entries WHERE organization_id = $1 ORDER BY occurred_at LIMIT 1',
      [organizationId],
    );
    expect(row).toMatchObject({
      actor_type: 'api_key',
      actor_id: app.registry.idOf(key),
      resource_type: 'rules',
      resource_id: created.body.id,
      outcome: 'success',
      correlation_id: correlation,
    });
    expect(JSON.stringify([row, entries])).not.toContain('Ana');
  });

  it('stops a revoked key, lets a permitted one do more, and fails closed when the registry is away', async () => {
    const { id: organizationId } = anOrganization();
    const key = app.registry.key({ organizationId, permissions: [] });
    const list = () => app.with(key).get('/v1/loyalty/widgets');
    expectProblem(await list(), 403, 'permission_denied');
    app.registry.permit(key, ['loyalty.rules.read']);
    await eventually(async () => expect((await list()).status).toBe(200));
    app.registry.outage(true);
    await eventually(async () => expectProblem(await list(), 503, 'authorization_unavailable'));
    app.registry.outage(false);
    await eventually(async () => expect((await list()).status).toBe(200));
    app.registry.revoke(key);
    await eventually(async () => expectProblem(await list(), 401, 'invalid_token'));
  });
});
