import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Clock, newId } from '@customer-platform/database';
import { eventually, expectChildrenShare, expectProblem, expectStatus } from '@customer-platform/testing';
import { startCore, START_MS, type TestCore } from '../../core.fixture.js';
import { aFolder, IMPORTS, lines, send } from '../import.fixture.js';
import { UploadSlots, UPLOADS_AT_ONCE } from './upload-slots.js';

let now = Date.UTC(2026, 0, 1);
class StandingClock extends Clock {
  override now(): Date {
    return new Date(now);
  }
}

const quiet = { complete: false, readableFlowing: true, socket: { bytesRead: 0 } };
const active = { status: 'active', settings: {} } as const;

describe('UploadSlots', () => {
  it('takes two files of an organization at once and six of all, and one again when one is done', async () => {
    const slots = new UploadSlots(new StandingClock());
    const { promise, resolve } = Promise.withResolvers<void>();
    const hold = (organizationId: string): Promise<void> =>
      slots.hold({ organizationId, organization: {} }, quiet, () => promise);
    const held = ['one', 'one', 'two', 'two', 'three'].map(hold);
    await expect(hold('one')).rejects.toMatchObject({
      code: 'rate_limited',
      members: { scope: 'organization' },
    });
    held.push(hold('three'));
    await expect(hold('four')).rejects.toMatchObject({
      code: 'rate_limited',
      members: { scope: 'platform' },
    });
    resolve();
    await Promise.all(held);
    await Promise.all(['one', 'one', 'two', 'four'].map(hold));
  });

  it('takes no more of a tenant for all the organizations that it founds', async () => {
    const slots = new UploadSlots(new StandingClock());
    const { promise, resolve } = Promise.withResolvers<void>();
    await expectChildrenShare(UPLOADS_AT_ONCE, (asking) => slots.hold(asking, quiet, () => promise), resolve);
  });

  it('lets the slowest go of who has most, and none that is quick, waits for us or came just now', async () => {
    const slots = new UploadSlots(new StandingClock());
    const ended: string[] = [];
    const hold = (tenant: string, name: string, upload = { ...quiet, socket: { bytesRead: 0 } }) => {
      const organization = { ...active, id: tenant, tenant_id: tenant };
      const done = slots.hold({ organizationId: tenant, organization }, upload, (gaveWay) => {
        const { promise, reject } = Promise.withResolvers<never>();
        gaveWay.addEventListener('abort', () => reject(gaveWay.reason));
        return promise;
      });
      done.catch((error: unknown) => ended.push(`${name} ${(error as { code: string }).code}`));
      return upload;
    };
    const [one, two, three, four] = [newId(), newId(), newId(), newId()];
    const quick = hold(one, 'quick');
    hold(one, 'unread', { ...quiet, readableFlowing: false });
    const slow = hold(two, 'slow');
    hold(two, 'slowest');
    for (const name of ['unread', 'unread too']) hold(three, name, { ...quiet, readableFlowing: false });
    now += 9_999;
    hold(four, 'early');
    now += 1;
    quick.socket.bytesRead += 640_001;
    slow.socket.bytesRead += 10;
    hold(four, 'later');
    hold(four, 'latest');
    await Promise.resolve();
    await eventually(() => {
      expect(ended).toEqual(['early rate_limited', 'slowest request_timeout', 'slow request_timeout']);
    });
  });
});

describe(`POST ${IMPORTS}`, () => {
  let core: TestCore;
  let folder: Awaited<ReturnType<typeof aFolder>>;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    folder = await aFolder();
    core = await startCore({ IMPORT_DIRECTORY: folder.path, PROCESS_ROLE: 'api' });
  }, START_MS);
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await core.close();
    await folder.remove();
  });

  it('files that come by the byte keep nobody from importing; the one that gives way gets 408', async () => {
    const clock = core.app.app.get(Clock);
    let later = 0;
    const original = clock.now.bind(clock);
    clock.now = () => new Date(original().getTime() + later);
    const heard: string[] = [];
    for (const organizationId of [newId(), newId(), newId()]) {
      const key = core.app.registry.key({ organizationId, permissions: ['core.imports.create'] });
      for (let n = 0; n < 2; n += 1) {
        const { hostname, port } = new URL(core.app.url);
        const socket = connect(Number(port), hostname);
        sockets.push(socket.on('error', () => undefined));
        const at = heard.push('') - 1;
        socket.on('data', (chunk) => (heard[at] += String(chunk)));
        const arrived = once(core.app.app.getHttpServer() as Server, 'request');
        socket.write(
          `POST ${IMPORTS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n` +
            'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n--b\r\n',
        );
        await arrived;
      }
    }
    const { caller } = core.anOrganization();
    const file = lines('id,mail,name', 'a-1,,One');
    await eventually(async () => {
      expectProblem(await send(caller, file), 429, 'rate_limited');
    });
    later = 10_000;
    // Nobody gives way whose file the service has not begun to read.
    await eventually(async () => expectStatus(await send(caller, file), 202));
    await eventually(() => {
      expect(heard.filter((text) => /^HTTP\/1\.1 408 .*request_timeout/s.test(text))).toHaveLength(1);
    });
    clock.now = original;
  });
});
