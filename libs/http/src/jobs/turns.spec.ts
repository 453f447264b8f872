import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runForCaller } from '../observe/correlation.js';
import { RequestAborted } from '../reading/read-body.js';
import { Batcher } from './batcher.js';
import { turns, type TurnsOptions } from './turns.js';

async function made(options: TurnsOptions): Promise<string[]> {
  const all: string[] = [];
  for await (const { count, isLast } of turns(options)) all.push(`${String(count)}${isLast ? ' last' : ''}`);
  return all;
}

it('ends after so many turns, of which the last is said to be it', async () => {
  expect(await made({ most: 1 })).toEqual(['1 last']);
  expect(await made({ most: 3 })).toEqual(['1', '2', '3 last']);
});

it('ends after so long: a turn that begins then is the last', async () => {
  let now = 0;
  expect(await made({ forMs: 5, now: () => (now += 2) })).toEqual(['1', '2', '3 last']);
  expect(await made({ forMs: 60_000, most: 2 })).toEqual(['1', '2 last']);
});

it('rests as it is told, by how many turns were made', async () => {
  const rests: number[] = [];
  await made({ most: 3, pauseMs: (count) => rests.push(count) });
  expect(rests).toEqual([1, 2]);
});

describe('a request whose caller leaves', () => {
  /** Serves one request by `work`, whose caller leaves once it has begun. @returns what came of it */
  async function left(work: (begun: () => void) => Promise<void>): Promise<unknown> {
    const outcome = Promise.withResolvers<unknown>();
    const begun = Promise.withResolvers<void>();
    const server = createServer((_request, response) => {
      const gone = once(response, 'close');
      runForCaller('00000000-0000-4000-8000-000000000000', response, async () => {
        await work(() => begun.resolve()).catch((error: unknown) => outcome.resolve(error));
        await gone;
        outcome.resolve('went on');
      }).catch(outcome.reject);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = request({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
    client.on('error', () => client.destroy());
    client.end();
    await begun.promise;
    client.destroy();
    const came = await outcome.promise;
    server.close();
    return came;
  }

  it('is not tried again', async () => {
    const work = async (begun: () => void): Promise<void> => {
      for await (const _ of turns({ most: 1_000_000, pauseMs: 1 })) begun();
    };
    expect(await left(work)).toBeInstanceOf(RequestAborted);
  });

  it('takes nothing from others that share a batch with it', async () => {
    const leaving = Promise.withResolvers<void>();
    const batcher = new Batcher<string>({
      run: async () => {
        await leaving.promise;
        for await (const { isLast } of turns({ most: 50, pauseMs: 1 })) if (isLast) return;
      },
    });
    const work = async (begun: () => void): Promise<void> => {
      const mine = batcher.add('mine');
      begun();
      setTimeout(leaving.resolve, 0);
      await mine;
    };
    expect(await left(work)).toBe('went on');
  });
});
