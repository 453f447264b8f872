import { ProblemError } from '@customer-platform/client';
import { renewEach, type Renewal } from './renew-all.ts';
import type { Template } from './template.ts';

const USERS = ['one', 'two', 'three'].map((id) => ({ id, name: `Name of ${id}` }));

function refusal(status: number, body: object): ProblemError {
  const call = { method: 'PATCH', path: '/v1/messaging/templates/{id}' };
  return new ProblemError(call, { status, headers: new Headers(), text: JSON.stringify(body) }, 0);
}

interface Platform {
  /** Those whose newest version is a draft. */
  drafts?: readonly string[];
  refused?: Readonly<Record<string, Error>>;
}

function platform({ drafts = [], refused = {} }: Platform = {}) {
  const renewed: unknown[][] = [];
  const calls = {
    read: (id: string) => {
      const data = { id, version: drafts.includes(id) ? 2 : 1, published_version: 1 } as Template;
      return Promise.resolve({ data, etag: `"${id}"` });
    },
    renew: (...asked: [string, boolean, string?]) => {
      renewed.push(asked);
      const error = refused[asked[0]];
      return error === undefined ? Promise.resolve() : Promise.reject(error);
    },
  };
  return { renewed, calls };
}

const nobody = (): AbortSignal => new AbortController().signal;

describe('renewing all', () => {
  it('leaves them drafts unless they are to be published, and tells how far it is', async () => {
    const { renewed, calls } = platform();
    const told: Renewal[] = [];
    await renewEach(USERS, false, calls, nobody(), (renewal) => told.push(renewal));
    expect(renewed).toEqual(USERS.map(({ id }) => [id, false]));
    expect(told.map(({ done, of }) => [done, of])).toEqual([
      [0, 3],
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
  });

  it('publishes what its turn finds published, by the tag of that reading', async () => {
    const { renewed, calls } = platform({ drafts: ['two'] });
    await renewEach(USERS, true, calls, nobody(), () => undefined);
    expect(renewed).toEqual([
      ['one', true, '"one"'],
      ['two', false, '"two"'],
      ['three', true, '"three"'],
    ]);
  });

  it('goes on after a refusal, and names what somebody was quicker with', async () => {
    const { renewed, calls } = platform({ refused: { two: refusal(412, { title: 'Changed meanwhile' }) } });
    const all = await renewEach(USERS, true, calls, nobody(), () => undefined);
    expect(all).toEqual({
      done: 3,
      of: 3,
      refused: [
        { id: 'two', name: 'Name of two', error: expect.objectContaining({ title: 'Changed meanwhile' }) },
      ],
    });
    expect(renewed).toHaveLength(3);
  });

  it('ends where nobody answers', async () => {
    const lost = new Error('no answer');
    const { renewed, calls } = platform({ refused: { two: lost } });
    await expect(renewEach(USERS, false, calls, nobody(), () => undefined)).rejects.toBe(lost);
    expect(renewed).toHaveLength(2);
  });

  it('leaves the others as they are once it is canceled', async () => {
    const { renewed, calls } = platform();
    const end = new AbortController();
    const canceled = renewEach(USERS, false, calls, end.signal, () => end.abort());
    await expect(canceled).rejects.toBe(end.signal.reason);
    expect(renewed).toEqual([['one', false]]);
  });
});
