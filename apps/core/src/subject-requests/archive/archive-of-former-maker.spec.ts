import type { Permission } from '@customer-platform/permissions';
import { eventually, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { Client } from 'pg';
import { CONTACTS } from '../../people/contacts/contact.fixture.js';
import { CORE_PERMISSIONS, START_MS } from '../../core.fixture.js';
import type { SubjectRequestDto } from '../subject-request.dto.js';
import { ErasureWorld, REQUESTS } from '../subject-request.fixture.js';
import { archiveOf, ask, ZIP } from './archive.fixture.js';

let world: ErasureWorld;
beforeAll(async () => {
  world = await ErasureWorld.start();
}, START_MS);
afterAll(() => world.close());
afterEach(() => world.rows.clear());

const PATH = ({ id }: SubjectRequestDto) => `${REQUESTS}/${id}`;
const headers = { accept: ZIP };
const WAITING = `SELECT 1 FROM pg_stat_activity
                  WHERE wait_event_type = 'Lock' AND query LIKE '%SELECT sealed FROM subject_archive_pieces%'`;

/** Somebody with a key of their own in an organization, whom others take rights away from. */
function aMember(organizationId: string) {
  const { registry } = world.contacts.core.app;
  const key = registry.key({ organizationId, permissions: CORE_PERMISSIONS });
  return {
    caller: world.contacts.core.app.with(key),
    permit: (permissions: readonly Permission[]) => registry.permit(key, permissions),
    remove: () => registry.revoke(key),
  };
}

/** Does it while nobody can read the pieces of archives. */
async function whilePiecesAreHeld(work: () => Promise<unknown>): Promise<void> {
  const holder = new Client({ connectionString: world.contacts.core.database.adminUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN; LOCK TABLE subject_archive_pieces IN ACCESS EXCLUSIVE MODE');
    await work();
  } finally {
    await holder.query('ROLLBACK');
    await holder.end();
  }
}

describe('an archive whose maker was removed', () => {
  const withArchive = async () => {
    const { id: organizationId, caller: colleague } = world.contacts.anOrganization();
    const maker = aMember(organizationId);
    const { id } = await world.contacts.created(colleague);
    return { colleague, maker, contactId: id };
  };
  const done = (caller: Caller, request: SubjectRequestDto) => world.inState(caller, request, 'completed');

  it('while it was made is the organization’s, and nothing of it the former maker’s', async () => {
    const { colleague, maker, contactId } = await withArchive();
    let request: SubjectRequestDto | undefined;
    await whilePiecesAreHeld(async () => {
      request = await ask(maker.caller, { contact_id: contactId });
      maker.remove();
      await eventually(async () => expectStatus(await maker.caller.get(REQUESTS), 401));
    });
    if (!request) throw new Error('No request was opened');
    const { files } = await archiveOf(colleague, await done(colleague, request));
    expect(files['core/contacts.json']).toContain(contactId);
    expectProblem(await maker.caller.get(PATH(request), { headers }), 401, 'invalid_token');
  }, 60_000);

  it('is refused by what is left of the former maker’s rights', async () => {
    const { colleague, maker, contactId } = await withArchive();
    const request = await done(colleague, await ask(maker.caller, { contact_id: contactId }));
    await archiveOf(maker.caller, request);
    maker.permit(['core.subject_requests.read']);
    await eventually(async () =>
      expectProblem(await maker.caller.get(PATH(request), { headers }), 403, 'permission_denied'),
    );
  }, 60_000);

  it.each<[string, number, (maker: ReturnType<typeof aMember>) => void]>([
    ['was removed', 401, (maker) => maker.remove()],
    ['may read no contacts any more', 403, (maker) => maker.permit(['core.subject_requests.read'])],
  ])(
    'breaks off under the hands of who downloads it and %s',
    async (_, status, lose) => {
      const { colleague, maker, contactId } = await withArchive();
      const request = await done(colleague, await ask(maker.caller, { contact_id: contactId }));
      let downloads: Promise<string>[] = [];
      await whilePiecesAreHeld(async () => {
        downloads = [maker.caller, colleague].map((caller) =>
          caller.download(PATH(request), ZIP).then(
            ({ bytes }) => `${String(bytes.length)} bytes`,
            () => 'broken off',
          ),
        );
        await eventually(async () =>
          expect(await world.contacts.core.database.query(WAITING)).toHaveLength(2),
        );
        lose(maker);
        await eventually(async () => expectStatus(await maker.caller.get(`${CONTACTS}?limit=1`), status));
      });
      expect(await Promise.all(downloads)).toEqual(['broken off', `${String(request.result?.bytes)} bytes`]);
    },
    60_000,
  );
});
