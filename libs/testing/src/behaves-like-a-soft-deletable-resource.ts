import { DatabaseFault } from './database-fault.js';
import { itIsolatesAndAuthorizes } from './resource-access.suite.js';
import { itListsByTheContract } from './resource-lists.suite.js';
import {
  expectProblem,
  expectStatus,
  ResourceWorld,
  unknownId,
  type ResourceItem,
  type ResourcePage,
  type SoftDeletableResource,
} from './soft-deletable-resource.js';

/**
 * The whole of the contract for a soft-deletable resource (contract.md §2–§5): every call of the common form, its
 * repeats and races, lists, permissions and the sweep with a second organization. To be called inside a `describe`.
 */
export function itBehavesLikeASoftDeletableResource(resource: SoftDeletableResource): void {
  let world: ResourceWorld;
  beforeEach(async () => {
    world = await ResourceWorld.of(resource);
  });

  itCreatesAndChanges(() => world);
  itDeletesAndRestores(() => world, resource);
  itSurvivesRaces(() => world);
  itListsByTheContract(() => world);
  itIsolatesAndAuthorizes(() => world);
}

function itCreatesAndChanges(world: () => ResourceWorld): void {
  it('POST: 201 with the body and its Location, which answers the same', async () => {
    const answer = await world().all.post<ResourceItem>(world().path, await world().nextBody());
    expectStatus(answer, 201);
    expect(answer.headers.get('location')).toBe(world().at(answer.body));
    expect(answer.body).toMatchObject({ deleted_at: null, created_at: answer.body.updated_at });
    expect(answer.body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const read = await world().all.get<ResourceItem>(world().at(answer.body));
    expect(read.body).toEqual(world().withoutShownOnce(answer.body));
    expect(read.headers.get('etag')).toBeTruthy();
  });

  it('POST with an Idempotency-Key: the same answer again, another body refused', async () => {
    const body = await world().nextBody();
    const headers = { 'Idempotency-Key': `"${unknownId()}"` };
    const first = await world().all.post<ResourceItem>(world().path, body, headers);
    expectStatus(first, 201);
    expect(first.headers.get('idempotent-replay')).toBeNull();
    const again = await world().all.post<ResourceItem>(world().path, body, headers);
    expectStatus(again, 201);
    expect(again.headers.get('idempotent-replay')).toBe('true');
    expect(again.body).toEqual(world().withoutShownOnce(first.body));
    const other = await world().all.post(world().path, await world().nextBody(), headers);
    expectProblem(other, 422, 'idempotency_key_reused');
  });

  it('POST with an Idempotency-Key: leaves nothing where its answer cannot be kept', async () => {
    const { database } = world().resource.app();
    if (!database) throw new Error('The app was started without its database');
    const list = `${world().path}?include_deleted=true&limit=200`;
    const before = await world().all.get<ResourcePage>(list);
    const fault = await DatabaseFault.in(database, {
      table: 'idempotency_keys',
      on: 'UPDATE',
      when: `NEW.organization_id = '${world().organizationId}' AND NEW.status IS NOT NULL`,
    });
    const headers = { 'Idempotency-Key': unknownId() };
    const body = await world().nextBody();
    expectProblem(await world().all.post(world().path, body, headers), 500, 'internal_error');
    expect(await fault.tries()).toBe(1);
    await fault.mend();
    expect((await world().all.get<ResourcePage>(list)).body.data).toEqual(before.body.data);
    expectStatus(await world().all.post(world().path, body, headers), 201);
  });

  it('POST and PATCH: an unknown field is named and refused', async () => {
    const body = { ...(await world().nextBody()), misspelt_field: 1 };
    const problem = expectProblem(await world().all.post(world().path, body), 400, 'validation_failed');
    expect(problem.errors).toEqual([
      expect.objectContaining({ pointer: '/misspelt_field', code: 'unknown_field' }),
    ]);
    const item = await world().create();
    expectProblem(await world().all.patch(world().at(item), { misspelt_field: 1 }), 400, 'validation_failed');
  });

  it('PATCH: 200 with a later updated_at and another ETag; what changes nothing keeps both', async () => {
    const item = await world().create();
    const { headers } = await world().all.get(world().at(item));
    const changed = await world().all.patch<ResourceItem>(world().at(item), world().resource.patch(1));
    expectStatus(changed, 200);
    expect(changed.body.updated_at > item.updated_at).toBe(true);
    expect(changed.headers.get('etag')).not.toBe(headers.get('etag'));
    const same = await world().all.patch<ResourceItem>(world().at(item), world().resource.patch(1));
    expect(same.body).toEqual(changed.body);
    expect(same.headers.get('etag')).toBe(changed.headers.get('etag'));
    const empty = await world().all.patch<ResourceItem>(world().at(item), {});
    expect(empty.body).toEqual(changed.body);
  });

  it('PATCH with If-Match: the present tag passes, a former one is 412', async () => {
    const item = await world().create();
    const etag = (await world().all.get(world().at(item))).headers.get('etag') ?? '';
    const patch = (number: number) =>
      world().all.patch(world().at(item), world().resource.patch(number), { 'If-Match': etag });
    expectStatus(await patch(1), 200);
    expectProblem(await patch(2), 412, 'etag_mismatch');
  });
}

function itDeletesAndRestores(world: () => ResourceWorld, resource: SoftDeletableResource): void {
  it('DELETE: 204 and deleted_at; a repeat is 204 and changes nothing; GET still answers', async () => {
    const item = await world().create();
    expectStatus(await world().all.delete(world().at(item)), 204);
    const deleted = await world().all.get<ResourceItem>(world().at(item));
    expectStatus(deleted, 200);
    expect(Date.parse(deleted.body.deleted_at ?? '')).not.toBeNaN();
    expectStatus(await world().all.delete(world().at(item)), 204);
    expect((await world().all.get(world().at(item))).body).toEqual(deleted.body);
  });

  it('PATCH on a soft-deleted row: 409 resource_deleted', async () => {
    const item = await world().createDeleted();
    expectProblem(await world().all.patch(world().at(item), resource.patch(1)), 409, 'resource_deleted');
  });

  it('POST restore: 200 and active; on an active row 409 not_deleted', async () => {
    const item = await world().createDeleted();
    const restored = await world().all.post<ResourceItem>(world().at(item, '/restore'));
    expectStatus(restored, 200);
    expect(restored.body).toMatchObject({ id: item.id, deleted_at: null });
    expect((await world().all.get(world().at(item))).body).toEqual(restored.body);
    expectProblem(await world().all.post(world().at(item, '/restore')), 409, 'not_deleted');
  });

  it('DELETE purge: 409 not_soft_deleted on an active row, 204 on a soft-deleted one, then 404', async () => {
    const item = await world().create();
    expectProblem(await world().all.delete(world().at(item, '/purge')), 409, 'not_soft_deleted');
    expectStatus(await world().all.delete(world().at(item)), 204);
    expectStatus(await world().all.delete(world().at(item, '/purge')), 204);
    expectProblem(await world().all.get(world().at(item)), 404, 'not_found');
    expectProblem(await world().all.delete(world().at(item, '/purge')), 404, 'not_found');
  });

  it('DELETE, restore and purge with If-Match: a former tag is 412 and changes nothing, the present one passes', async () => {
    const item = await world().create();
    const tag = async () => (await world().all.get(world().at(item))).headers.get('etag') ?? '';
    const seen: string[] = [];
    const steps = [
      ['DELETE', '', 204],
      ['POST', '/restore', 200],
      ['DELETE', '', 204],
      ['DELETE', '/purge', 204],
    ] as const;
    for (const [verb, suffix, status] of steps) {
      const send = (etag: string) =>
        world().all.call(verb, world().at(item, suffix), { headers: { 'If-Match': etag } });
      const present = await tag();
      for (const former of ['"another"', ...seen]) expectProblem(await send(former), 412, 'etag_mismatch');
      expect(await tag()).toBe(present);
      expectStatus(await send(present), status);
      seen.push(present);
    }
    // What was deleted is: a repeat whose first answer was lost is no change.
    const other = await world().create();
    const { headers } = await world().all.get(world().at(other));
    const once = { headers: { 'If-Match': headers.get('etag') ?? '' } };
    expectStatus(await world().all.delete(world().at(other), once), 204);
    expectStatus(await world().all.delete(world().at(other), once), 204);
  });

  if (resource.unique === undefined) return;

  it(`${resource.unique} is unique among active rows only; restore then tells whose it is now`, async () => {
    const first = await world().create(1);
    const taken = await world().all.post(world().path, await world().nextBody(1));
    const problem = expectProblem(taken, 409, 'duplicate_value');
    expect(problem.errors).toEqual([
      expect.objectContaining({ pointer: resource.uniquePointer ?? `/${resource.unique}` }),
    ]);
    expectStatus(await world().all.delete(world().at(first)), 204);
    const second = await world().create(1);
    const conflict = expectProblem(
      await world().all.post(world().at(first, '/restore')),
      409,
      'restore_conflict',
    );
    expect(conflict['conflicting_id']).toBe(second.id);
  });
}

function itSurvivesRaces(world: () => ResourceWorld): void {
  it('8 deletes at once: all 204, one deletion', async () => {
    const item = await world().create();
    const answers = await Promise.all(Array.from({ length: 8 }, () => world().all.delete(world().at(item))));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(204));
  });

  it('8 restores at once: one 200, the others 409 not_deleted', async () => {
    const item = await world().createDeleted();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => world().all.post(world().at(item, '/restore'))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(409)]);
  });

  it('8 purges at once: one 204, the others 404', async () => {
    const item = await world().createDeleted();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => world().all.delete(world().at(item, '/purge'))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array<number>(7).fill(404)]);
  });

  it('deletes and restores mixed end in a state that the item itself tells', async () => {
    const item = await world().create();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        at % 2 ? world().all.post(world().at(item, '/restore')) : world().all.delete(world().at(item)),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => ![200, 204, 409].includes(status))).toEqual([]);
    const { body } = await world().all.get<ResourceItem>(world().at(item));
    const restored = await world().all.post(world().at(item, '/restore'));
    expect(restored.status).toBe(body.deleted_at === null ? 409 : 200);
  });
}
