import {
  expectProblem,
  expectStatus,
  ITEM_CALLS,
  ResourceWorld,
  unknownId,
  type ProblemAnswer,
  type ResourcePage,
} from './soft-deletable-resource.js';

/** Contract §5 on a resource: credentials, all-but-one and only-one permission, the second organization, every verb. */
export function itIsolatesAndAuthorizes(world: () => ResourceWorld): void {
  it('401 without a credential and with one that is none, before anything else', async () => {
    const { path, resource } = world();
    for (const route of [path, `${path}/not-an-id`]) {
      expectProblem(await resource.app().with().get(route), 401, 'missing_credentials');
      expectProblem(await resource.app().with('cpk_live_wrong').get(route), 401, 'invalid_token');
    }
  });

  it('403 naming the permission for a caller who holds all others, even for ids that do not exist', async () => {
    const { permissions } = world().resource;
    const item = await world().createDeleted();
    for (const { name, permission, call } of ITEM_CALLS) {
      const caller = world().without(permissions[permission]);
      for (const id of [item.id, unknownId()]) {
        const problem = expectProblem(await call(caller, world(), id), 403, 'permission_denied');
        expect(`${name}: ${JSON.stringify(problem)}`).toContain(permissions[permission]);
      }
    }
    const unable = world().without(permissions.create);
    expectProblem(await unable.post(world().path, { misspelt: 1 }), 403, 'permission_denied');
    expectProblem(await world().without(permissions.read).get(world().path), 403, 'permission_denied');
  });

  it('takes a caller who holds only the permission of the call', async () => {
    const { permissions, needsBeside = [] } = world().resource;
    const created = await world()
      .as([permissions.create, ...needsBeside])
      .post(world().path, await world().nextBody());
    expectStatus(created, 201);
    expectStatus(await world().as([permissions.read]).get(world().path), 200);
    const item = await world().create();
    const only = (permission: keyof typeof permissions) => world().as([permissions[permission]]);
    expectStatus(await only('read').get(world().at(item)), 200);
    const updating = world().as([permissions.update, ...needsBeside]);
    expectStatus(await updating.patch(world().at(item), world().resource.patch(1)), 200);
    expectStatus(await only('delete').delete(world().at(item)), 204);
    expectStatus(await only('delete').post(world().at(item, '/restore')), 200);
    expectStatus(await only('delete').delete(world().at(item)), 204);
    expectStatus(await only('purge').delete(world().at(item, '/purge')), 204);
  });

  it("answers another organization's id as one that does not exist: same 404, same body, every verb, no effect", async () => {
    const foreign = await ResourceWorld.of(world().resource);
    for (const item of [await world().create(), await world().createDeleted()]) {
      for (const { call } of ITEM_CALLS) {
        const nobodys = unknownId();
        const answers = [
          await call(foreign.all, foreign, item.id),
          await call(foreign.all, foreign, nobodys),
        ];
        const bodies = answers.map((answer) =>
          comparable(expectProblem(answer, 404, 'not_found'), [item.id, nobodys]),
        );
        expect(bodies[0]).toEqual(bodies[1]);
      }
      expect((await world().all.get(world().at(item))).body).toEqual(item);
    }
    const { body } = await foreign.all.get<ResourcePage>(`${foreign.path}?include_deleted=true`);
    expect(body.data).toEqual([]);
  });

  it('400 invalid_id for what cannot be an id', async () => {
    for (const { call } of ITEM_CALLS) {
      expectProblem(await call(world().all, world(), 'not-an-id'), 400, 'invalid_id');
    }
  });
}

/** A problem without what differs between any two calls. */
function comparable(problem: ProblemAnswer, ids: readonly string[]): string {
  const { correlation_id: _, ...rest } = problem;
  return ids.reduce((text, id) => text.replaceAll(id, '<id>'), JSON.stringify(rest));
}
