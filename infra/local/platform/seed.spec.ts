import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { stillGood } from './seed.ts';

const ACCESS = { organization_id: 'o', ingestion_key: 'i', admin_key: 'a' };

/** Statuses in turn, the last one for ever. */
let statuses: [number, ...number[]];
let asked: number;
let server: Server;
let baseUrl: string;

beforeAll(async () => {
  server = createServer((_request, response) => {
    const status = statuses[Math.min(asked, statuses.length - 1)] ?? 500;
    asked += 1;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 200 ? '{"data":[],"page":{"next_cursor":null}}' : '{"code":"of_the_test"}');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
beforeEach(() => {
  asked = 0;
});
afterAll(() => {
  server.close();
});

describe('the keys that a start before has left', () => {
  it('are good where they are taken', async () => {
    statuses = [200];
    expect(await stillGood(baseUrl, ACCESS)).toBe(true);
  });

  it.each([401, 403])('are not when they are refused with %i', async (status) => {
    statuses = [status];
    expect(await stillGood(baseUrl, ACCESS)).toBe(false);
  });

  it.each([429, 503, 504])('are judged again by a platform that was too busy, with %i', async (status) => {
    statuses = [status, status, 200];
    expect(await stillGood(baseUrl, ACCESS)).toBe(true);
    expect(asked).toBe(3);
  });

  it('are not given up for a platform that cannot judge them', async () => {
    statuses = [500];
    await expect(stillGood(baseUrl, ACCESS)).rejects.toMatchObject({ status: 500 });
  });
});
