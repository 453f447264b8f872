import { aContext, anOrganization } from '@customer-platform/testing';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { newId, versionTag, Whole, type Database } from '../src/index.js';
import type { Widget } from './widget.entity.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

describe('ResourceStore', () => {
  let world: WidgetWorld;
  let context: RequestContext;
  beforeAll(async () => {
    world = await aWidgetWorld(8);
  });
  afterAll(() => world.close());
  beforeEach(() => {
    context = aContext();
  });

  const create = (name = `widget ${newId()}`): Promise<Widget> =>
    world.store().create(context, { name, settings: { a: 1 } });
  const verbsOf = (id: string): string[] =>
    world.recorder.changes.filter((change) => change.id === id).map(({ verb }) => verb);
  const refusal = async (work: Promise<unknown>): Promise<Problem> => {
    const thrown: unknown = await work.then(
      () => undefined,
      (error: unknown) => error,
    );
    return thrown as Problem;
  };

  it('creates, reads and records', async () => {
    const widget = await create('one');
    expect(widget).toMatchObject({
      organizationId: context.organizationId,
      name: 'one',
      deletedAt: null,
      weight: null,
    });
    expect(await world.store().get(context, widget.id)).toEqual(widget);
    expect(world.recorder.changes.at(-1)).toEqual({
      verb: 'created',
      resource: 'widgets.widgets',
      id: widget.id,
      changedFields: ['name', 'settings'],
    });
  });

  it('merges a patch, tells which fields changed, and moves updatedAt and the tag', async () => {
    const widget = await create();
    const next = await world.store().update(context, widget.id, { settings: { b: { c: 2 } }, weight: 3 });
    expect(next.settings).toEqual({ a: 1, b: { c: 2 } });
    expect(next.updatedAt.getTime()).toBeGreaterThan(widget.updatedAt.getTime());
    expect(versionTag(next)).not.toBe(versionTag(widget));
    expect(world.recorder.changes.at(-1)?.changedFields).toEqual(['settings', 'weight']);
    const cleared = await world.store().update(context, widget.id, { weight: null, settings: { b: null } });
    expect([cleared.weight, cleared.settings]).toEqual([null, { a: 1 }]);
    expect(await world.store().get(context, widget.id)).toEqual(cleared);
  });

  it('tells each change at the time that its row names, which grows with every change', async () => {
    const store = world.store({
      event: ({ row }) => ({ type: 'widgets.widget.changed.v1', key: row.id, subject: row.id, data: {} }),
    });
    const widget = await store.create(context, { name: `widget ${newId()}`, settings: {} });
    const rows = [widget];
    for (const weight of [1, 2, 3]) rows.push(await store.update(context, widget.id, { weight }));
    const told = world.recorder.changes.filter(({ id }) => id === widget.id);
    expect(told.map((change) => change.event?.time)).toEqual(
      rows.map(({ updatedAt }) => updatedAt.toISOString()),
    );
  });

  it('replaces a value that is given as a whole', async () => {
    const widget = await create();
    const next = await world.store().update(context, widget.id, { settings: new Whole({ b: 1 }) });
    expect(next.settings).toEqual({ b: 1 });
    const same = await world.store().update(context, widget.id, { settings: new Whole({ b: 1 }) });
    expect(same.updatedAt).toEqual(next.updatedAt);
  });

  it('writes nothing for a patch that changes nothing', async () => {
    const widget = await create();
    const same = await world
      .store()
      .update(context, widget.id, { name: widget.name, settings: { a: 1 }, weight: null });
    expect(same).toEqual(widget);
    expect(verbsOf(widget.id)).toEqual(['created']);
  });

  it('refuses another state than If-Match names: of 10 at once with one tag, one passes', async () => {
    const widget = await create();
    const ifMatch = versionTag(widget);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, weight) =>
        world.store().update(context, widget.id, { weight: weight + 1 }, { ifMatch }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const codes = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [(outcome.reason as Problem).code] : [],
    );
    expect(new Set(codes)).toEqual(new Set(['etag_mismatch']));
    await world.store().update(context, widget.id, { weight: 99 }, { ifMatch: '*' });
    const fromHeader = { ...context, ifMatch: `W/${ifMatch}` };
    expect((await refusal(world.store().update(fromHeader, widget.id, { weight: 7 }))).code).toBe(
      'etag_mismatch',
    );
  });

  it('loses no update: 20 at once that add one end at 20', async () => {
    const widget = await create();
    await Promise.all(
      Array.from({ length: 20 }, () =>
        world.store().update(context, widget.id, (row) => ({ weight: (row.weight ?? 0) + 1 })),
      ),
    );
    expect((await world.store().get(context, widget.id)).weight).toBe(20);
  });

  it('soft-deletes once, however often, and refuses changes from then on', async () => {
    const widget = await create();
    await Promise.all(Array.from({ length: 5 }, () => world.store().softDelete(context, widget.id)));
    expect(verbsOf(widget.id)).toEqual(['created', 'deleted']);
    const deleted = await world.store().get(context, widget.id);
    expect(deleted.deletedAt).toBeInstanceOf(Date);
    expect((await refusal(world.store().update(context, widget.id, { weight: 1 }))).code).toBe(
      'resource_deleted',
    );
    expect((await refusal(world.store().get(context, widget.id, 'live'))).code).toBe('not_found');
    expect((await world.store().get(context, widget.id, 'deleted')).id).toBe(widget.id);
  });

  it('restores, unless active or its value is taken', async () => {
    const widget = await create('Taken later');
    expect((await refusal(world.store().restore(context, widget.id))).code).toBe('not_deleted');
    await world.store().softDelete(context, widget.id);
    const successor = await create('TAKEN LATER');
    const conflict = await refusal(world.store().restore(context, widget.id));
    expect([conflict.code, conflict.members['conflicting_id']]).toEqual(['restore_conflict', successor.id]);
    await world.store().softDelete(context, successor.id);
    const restored = await world.store().restore(context, widget.id);
    expect(restored.deletedAt).toBeNull();
    expect(await world.store().get(context, widget.id)).toEqual(restored);
  });

  it('tells whose the value is, on create and on update, and goes on in the same transaction', async () => {
    const first = await create('unique');
    const second = await create('other');
    for (const attempt of [
      () => create('Unique'),
      () => world.store().update(context, second.id, { name: 'UNIQUE' }),
    ]) {
      const problem = await refusal(attempt());
      expect(problem).toMatchObject({ code: 'duplicate_value', members: { conflicting_id: first.id } });
      expect(problem.errors).toEqual([
        expect.objectContaining({ pointer: '/name', code: 'duplicate_value' }),
      ]);
    }
    await world.store().update(context, first.id, { name: 'Unique' });
  });

  it('names changed fields by their columns unless told otherwise', async () => {
    const store = world.store({ fieldNames: { name: 'title' }, bookkeeping: ['weight'] });
    const widget = await create();
    await store.update(context, widget.id, { name: 'Renamed', weight: 5, settings: { color: 'red' } });
    expect(world.recorder.changes.at(-1)?.changedFields.sort()).toEqual(['settings', 'title']);
  });

  it('purges only what is soft-deleted and unreferenced', async () => {
    const store = world.store({ referencedBy: [{ table: 'parts', column: 'widget_id', resource: 'parts' }] });
    const widget = await create();
    expect((await refusal(store.purge(context, widget.id))).code).toBe('not_soft_deleted');
    await store.softDelete(context, widget.id);
    await addPart(world.database, context, widget.id);
    await addPart(world.database, context, widget.id);
    const refused = await refusal(store.purge(context, widget.id));
    expect(refused.members['references']).toEqual([{ module: 'widgets', resource: 'parts', count: 2 }]);
    // A store that does not count still cannot break the foreign key.
    expect((await refusal(world.store().purge(context, widget.id))).code).toBe('resource_referenced');
    await world.database.inOrganization(context, (tx) => tx.query('DELETE FROM parts'));
    await store.purge(context, widget.id);
    expect((await refusal(store.get(context, widget.id))).code).toBe('not_found');
    expect(verbsOf(widget.id)).toEqual(['created', 'deleted', 'purged']);
  });

  it('releases what other modules hold back when the purge does not come about', async () => {
    let released = 0;
    const asking = (count: number, stands: boolean) =>
      world.store({
        remoteReferences: {
          hold: async () => ({
            references: [{ module: 'crm', resource: 'notes', count }],
            demandStanding: () => {
              if (!stands) throw new Problem('dependency_unavailable');
            },
            release: async () => {
              released += 1;
            },
          }),
        },
      });
    const widget = await create();
    await world.store().softDelete(context, widget.id);
    const refused = await refusal(asking(1, true).purge(context, widget.id));
    expect(refused.members['references']).toEqual([{ module: 'crm', resource: 'notes', count: 1 }]);
    expect(released).toBe(1);
    expect((await refusal(asking(0, false).purge(context, widget.id))).code).toBe('dependency_unavailable');
    expect(released).toBe(2);
    expect(await world.store().get(context, widget.id)).toMatchObject({ id: widget.id });
    await asking(0, true).purge(context, widget.id);
    expect(released).toBe(2);
  });

  it('lets no reference slip in between the count and the delete', async () => {
    const store = world.store({ referencedBy: [{ table: 'parts', column: 'widget_id', resource: 'parts' }] });
    for (let round = 0; round < 10; round += 1) {
      const widget = await create();
      await store.softDelete(context, widget.id);
      const [adding, purging] = await Promise.allSettled([
        addPart(world.database, context, widget.id),
        store.purge(context, widget.id),
      ]);
      expect([adding.status, purging.status].sort()).toEqual(['fulfilled', 'rejected']);
    }
  });

  it('holds the limit under 12 creations at once, and on restore', async () => {
    const store = world.store({ limit: 5 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, at) => store.create(context, { name: `limited ${at}`, settings: {} })),
    );
    const made = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(made).toHaveLength(5);
    const [first] = made;
    if (!first) throw new Error('nothing was made');
    await store.softDelete(context, first.id);
    await store.create(context, { name: 'in its place', settings: {} });
    expect((await refusal(store.restore(context, first.id))).code).toBe('limit_reached');
  });

  it('undoes everything when what belongs to the change fails', async () => {
    const store = world.store({
      afterChange: async () => {
        throw new Error('no version could be written');
      },
    });
    const id = newId();
    await expect(store.create(context, { id, name: 'x', settings: {} })).rejects.toThrow('no version');
    expect((await refusal(world.store().get(context, id))).code).toBe('not_found');
  });

  it('knows no id of another organization, whatever the verb', async () => {
    const widget = await create();
    const stranger = aContext({ organization: anOrganization() });
    const store = world.store();
    const attempts = [
      () => store.get(stranger, widget.id),
      () => store.update(stranger, widget.id, { weight: 1 }),
      () => store.softDelete(stranger, widget.id),
      () => store.restore(stranger, widget.id),
      () => store.purge(stranger, widget.id),
    ];
    for (const attempt of attempts) expect((await refusal(attempt())).code).toBe('not_found');
    expect(await store.get(context, widget.id)).toEqual(widget);
  });
});

async function addPart(database: Database, context: RequestContext, widgetId: string): Promise<void> {
  await database.inOrganization(context, (tx) =>
    tx.query('INSERT INTO parts VALUES ($1, $2, $3)', [context.organizationId, newId(), widgetId]),
  );
}
