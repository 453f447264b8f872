import { walkOutside } from './outside-program.ts';
import { inTurn, type Outcome, type Person, type Subject } from './walk.ts';

const SUBJECT: Subject = {
  issuer: 'http://127.0.0.1:1',
  client_id: 'web',
  client_secret: 'secret',
  redirect_uri: 'https://app.example/back',
  post_logout_redirect_uri: 'https://app.example/bye',
  machine_id: 'machine',
  machine_secret: 'secret',
  email: 'somebody@example.com',
  api: 'http://127.0.0.1:1/api',
};
const PERSON: Person = {
  signIn: (address) => Promise.resolve(new URL(`${address}?code=1`)),
  signOut: (address) => Promise.resolve(new URL(`${address}?bye=1`)),
};

async function outcomesOf(program: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  await walkOutside([process.execPath, '-e', program], SUBJECT, PERSON, (one) => outcomes.push(one));
  return outcomes;
}

describe('a client that is a program of its own', () => {
  it('is told what it walks, and where the browser ends that it sends somewhere', async () => {
    const program = `
      const lines = require('node:readline').createInterface({ input: process.stdin })[Symbol.asyncIterator]();
      const ask = async (line) => { console.log(line); return (await lines.next()).value; };
      (async () => {
        console.log('passed', JSON.parse(process.env.SUBJECT).client_id);
        console.log('passed', await ask('sign-in https://id.example/in'));
        console.log('failed', 'sign-out', await ask('sign-out https://id.example/out'), 'and more');
        process.exit(0);
      })();`;
    expect(await outcomesOf(program)).toEqual([
      { flow: 'web' },
      { flow: 'https://id.example/in?code=1' },
      { flow: 'sign-out', reason: 'https://id.example/out?bye=1 and more' },
    ]);
  });

  it.each([
    ['ends with an error', 'process.exit(3)', 'ended with 3'],
    [
      'says what nobody understands',
      'console.log("hello there you"); setInterval(() => {}, 1000)',
      'hello there you',
    ],
  ])('that %s has not passed', async (_, program, said) => {
    await expect(outcomesOf(program)).rejects.toThrow(said);
  });
});

describe('flows in turn', () => {
  it('end with the first that fails, whose reason is told with its cause', async () => {
    const outcomes: Outcome[] = [];
    const done = (): Promise<void> => Promise.resolve();
    const fails = (): Promise<void> =>
      Promise.reject(new Error('refused', { cause: { error: 'invalid_grant' } }));
    const steps = { discovery: done, code: done, userinfo: done, refresh: fails };
    const later = { 'client-credentials': done, introspection: done, revocation: done, 'sign-out': done };
    await inTurn({ ...steps, ...later }, (one) => outcomes.push(one));
    expect(outcomes).toEqual([
      { flow: 'discovery' },
      { flow: 'code' },
      { flow: 'userinfo' },
      { flow: 'refresh', reason: 'refused {"error":"invalid_grant"}' },
    ]);
  });
});
