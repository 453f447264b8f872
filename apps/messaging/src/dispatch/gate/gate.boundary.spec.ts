import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const SOURCE = join(import.meta.dirname, '../..');
/** What can carry bytes out of the process. */
const WAYS_OUT = /from '(?:node:)?(?:net|tls|http|https|http2|dgram|undici|nodemailer)'/;

/** Files of the service itself: specs and fixtures may stand at the other end of the line. */
function sources(): { file: string; text: string }[] {
  return readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.(spec|fixture)\.ts$/.test(name))
    .map((name) => ({
      file: relative(SOURCE, join(SOURCE, name)),
      text: readFileSync(join(SOURCE, name), 'utf8'),
    }));
}

describe('the gate', () => {
  it('alone reaches for a transport', () => {
    const others = sources().filter(
      ({ file }) => !/^dispatch\/(?:gate|identity-lane|transports)\//.test(file),
    );
    expect(others.length).toBeGreaterThan(30);
    expect(
      others.filter(({ text }) => /from '[^']*\btransports\//.test(text)).map(({ file }) => file),
    ).toEqual([]);
  });

  it('has the only files that can open a connection in their transports', () => {
    const found = sources()
      // A type carries nothing.
      .filter(({ text }) => WAYS_OUT.test(text.replaceAll(/^import type [^;]*;/gm, '')))
      .map(({ file }) => file);
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter((file) => !file.startsWith('dispatch/transports/'))).toEqual([]);
  });

  it('shares its way to ask with the webhooks of both directions alone, which carry no message', () => {
    const users = sources().filter(({ text }) => /\b(?:postPinned|pinnedFetch)\b/.test(text));
    const others = users.map(({ file }) => file).filter((file) => !file.startsWith('dispatch/transports/'));
    expect(others.length).toBeGreaterThan(0);
    const outgoing = others.filter((file) => file.startsWith('webhook-endpoints/deliveries/'));
    expect(outgoing.length).toBeGreaterThan(0);
    // Of what comes in: certificates, and addresses that a provider asks to be confirmed.
    expect(others.filter((file) => !outgoing.includes(file))).toEqual([
      'reports/webhooks/provider-signature.strategy.ts',
    ]);
  });

  it('makes all connections of providers: what they know of themselves opens none', () => {
    const providers = sources().filter(({ file }) => file.startsWith('providers/'));
    expect(providers.length).toBeGreaterThan(10);
    const ways = /\btransports\/|\bDatabase\b|(?<!tools\.)\bfetch\(/;
    const reaching = providers.filter(({ text }) => ways.test(text.replaceAll(/^import type [^;]*;/gm, '')));
    expect(reaching.map(({ file }) => file)).toEqual([]);
  });

  it('asks its transports to hand over in one place, after the gate has been passed', () => {
    const callers = sources().filter(
      ({ file, text }) => /\.handOff\(message/.test(text) && !file.includes('transports/'),
    );
    expect(callers.map(({ file }) => file)).toEqual(['dispatch/gate/dispatch-batch.ts']);
  });

  it('is exported by no module', () => {
    const text = readFileSync(join(SOURCE, 'dispatch/gate/gate.module.ts'), 'utf8');
    expect(text).not.toMatch(/^\s*exports:/m);
    const room = readFileSync(join(SOURCE, 'dispatch/dispatch.module.ts'), 'utf8');
    expect(/^ {2}exports: \[(.*)\],$/m.exec(room)?.[1]).toBe('GateChecksModule, StoredSendsModule');
  });
});
