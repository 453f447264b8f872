import { createPrivateKey, createPublicKey, sign, verify, type JsonWebKey } from 'node:crypto';
import { makeSecrets, MODULES, nextServiceKey } from './secrets.mjs';

const secrets = makeSecrets();

describe('secrets', () => {
  it('each module signs with a key that the public set knows by its name', () => {
    const { keys } = JSON.parse(secrets.platform['SERVICE_PUBLIC_KEYS'] ?? '') as {
      keys: (JsonWebKey & { kid: string })[];
    };
    for (const module of MODULES) {
      const key = createPrivateKey({
        key: JSON.parse(secrets.modules[module]?.['SERVICE_PRIVATE_KEY'] ?? '') as JsonWebKey,
        format: 'jwk',
      });
      const jwk = keys.find(({ kid }) => kid === `${module}-1`);
      if (!jwk) throw new Error(`no public key of ${module}`);
      const signature = sign(null, Buffer.from('x'), key);
      expect(verify(null, Buffer.from('x'), createPublicKey({ key: jwk, format: 'jwk' }), signature)).toBe(
        true,
      );
    }
  });

  it('a module’s next service key has the next number, and joins the public set', () => {
    const first = secrets.platform['SERVICE_PUBLIC_KEYS'] ?? '';
    const { SERVICE_PUBLIC_KEYS, SERVICE_PRIVATE_KEY } = nextServiceKey('core', first);
    const kids = (text: string) =>
      (JSON.parse(text) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
    expect(kids(SERVICE_PUBLIC_KEYS)).toEqual([...kids(first), 'core-2']);
    expect(JSON.parse(SERVICE_PRIVATE_KEY)).toMatchObject({ kid: 'core-2', d: expect.any(String) as string });
    expect(SERVICE_PUBLIC_KEYS).not.toContain('"d"');
    const former = '{"keys":[{"kid":"core"}]}';
    expect(kids(nextServiceKey('core', former).SERVICE_PUBLIC_KEYS)).toEqual(['core', 'core-1']);
    expect(() => nextServiceKey('crm', former)).toThrow('no key of crm');
  });

  it('the public set holds no private part, and no two modules share a secret', () => {
    expect(secrets.platform['SERVICE_PUBLIC_KEYS']).not.toContain('"d"');
    const all = Object.values(secrets.modules).flatMap((values) => Object.values(values));
    expect(new Set(all).size).toBe(all.length);
  });
});
