import { BoundedCalls } from './bounded-calls.js';
import { StorageUnavailable } from './file-store.js';

const never = (): Promise<never> => new Promise(() => undefined);

it('does so many at once, and the others when there is a place', async () => {
  const calls = new BoundedCalls(2, 60_000);
  const asked = Array.from({ length: 4 }, () => Promise.withResolvers<number>());
  const begun: number[] = [];
  const done = asked.map(({ promise }, at) =>
    calls.run(() => {
      begun.push(at);
      return promise;
    }),
  );
  expect(begun).toEqual([0, 1]);
  asked[1]?.resolve(1);
  await expect(done[1]).resolves.toBe(1);
  expect(begun).toEqual([0, 1, 2]);
  asked[0]?.reject(new RangeError('no'));
  await expect(done[0]).rejects.toThrow(RangeError);
  expect(begun).toEqual([0, 1, 2, 3]);
  for (const at of [2, 3]) asked[at]?.resolve(at);
  await expect(Promise.all([done[2], done[3]])).resolves.toEqual([2, 3]);
});

it('gives up what hangs, and begins nothing in its place', async () => {
  const calls = new BoundedCalls(1, 20);
  await expect(calls.run(never)).rejects.toThrow(StorageUnavailable);
  let isBegun = false;
  const second = calls.run(() => {
    isBegun = true;
    return Promise.resolve();
  });
  await expect(second).rejects.toThrow(StorageUnavailable);
  expect(isBegun).toBe(false);
});

it('goes on where what hung comes back', async () => {
  const calls = new BoundedCalls(1, 20);
  const hanging = Promise.withResolvers<undefined>();
  await expect(calls.run(() => hanging.promise)).rejects.toThrow(StorageUnavailable);
  hanging.resolve(undefined);
  await hanging.promise;
  await expect(calls.run(() => Promise.resolve(1))).resolves.toBe(1);
});

it('hands what comes back late to whoever lets go of it, and frees the place only then', async () => {
  const calls = new BoundedCalls(1, 20);
  const hanging = Promise.withResolvers<string>();
  const letGo = Promise.withResolvers<undefined>();
  const taken: string[] = [];
  const take = (value: string): Promise<undefined> => {
    taken.push(value);
    return letGo.promise;
  };
  await expect(calls.run(() => hanging.promise, { take })).rejects.toThrow(StorageUnavailable);
  let isBegun = false;
  const next = calls.run(() => {
    isBegun = true;
    return Promise.resolve();
  });
  hanging.resolve('a handle');
  await hanging.promise;
  expect([taken, isBegun]).toEqual([['a handle'], false]);
  letGo.resolve(undefined);
  await next;
  expect(isBegun).toBe(true);
});

it('hands nothing over that comes in time', async () => {
  const calls = new BoundedCalls(1, 60_000);
  const taken: number[] = [];
  const take = (value: number): Promise<void> => Promise.resolve(void taken.push(value));
  await expect(calls.run(() => Promise.resolve(1), { take })).resolves.toBe(1);
  expect(taken).toEqual([]);
});

it('does what lets go of something even where its turn comes late', async () => {
  const calls = new BoundedCalls(1, 20);
  const hanging = Promise.withResolvers<undefined>();
  await expect(calls.run(() => hanging.promise)).rejects.toThrow(StorageUnavailable);
  const begun = Promise.withResolvers<undefined>();
  const closing = calls.run(
    () => {
      begun.resolve(undefined);
      return begun.promise;
    },
    { begin: true },
  );
  await expect(closing).rejects.toThrow(StorageUnavailable);
  hanging.resolve(undefined);
  await expect(begun.promise).resolves.toBeUndefined();
});
