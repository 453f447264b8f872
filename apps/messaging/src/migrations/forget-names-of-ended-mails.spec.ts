import { runMigrations } from '@customer-platform/database';
import { aSend, messagingWorld, send, settled, type MessagingWorld } from '../messaging.fixture.js';
import { migrations } from './index.js';

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
}, 60_000);
afterAll(() => world.close());

it('takes names of factors out of mails that have ended, of all organizations, and of no other', async () => {
  const { database } = world;
  const ids: string[] = [];
  for (let each = 0; each < 3; each += 1) {
    const { api } = world.organization();
    const id = await send(api, aSend());
    await settled(api, id, 'sent');
    ids.push(id);
  }
  const [first, second, waiting] = ids;
  await database.query(
    `UPDATE sends SET lane = 2, recipient = recipient || '{"link": {"id": "x", "names": ["My phone"]}}' WHERE id = ANY($1::uuid[])`,
    [ids],
  );
  await database.query(`UPDATE sends SET due_at = 'infinity' WHERE id = $1`, [waiting]);
  await database.query(`DELETE FROM migrations WHERE name LIKE 'ForgetNamesOfEndedMails%'`);
  await runMigrations({ module: 'messaging', migrations, url: database.ownerUrl });
  const rows = await database.query('SELECT id FROM sends WHERE recipient #> $1 IS NOT NULL', [
    '{link,names}',
  ]);
  expect(rows).toEqual([{ id: waiting }]);
  const others = await database.query(
    `SELECT id FROM sends WHERE recipient #>> '{link,id}' = 'x' ORDER BY id`,
  );
  expect(others.map(({ id }) => id)).toEqual([first, second, waiting].sort());
});
