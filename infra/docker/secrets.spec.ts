import { execFileSync, spawnSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, sign, verify, type JsonWebKey } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

describe('make-secrets.mjs', () => {
  const ROOT = join(import.meta.dirname, '../..');
  let clone: string;
  beforeEach(() => {
    clone = mkdtempSync(join(tmpdir(), 'secrets-'));
    for (const file of ['.gitignore', 'infra/docker/make-secrets.mjs', 'infra/docker/secrets.mjs'])
      cpSync(join(ROOT, file), join(clone, file));
    execFileSync('git', ['init', '--quiet'], { cwd: clone });
  });
  afterEach(() => rmSync(clone, { recursive: true }));

  function run(...args: string[]) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['infra/docker/make-secrets.mjs', ...args],
      { cwd: clone, encoding: 'utf8' },
    );
    return { status, stdout, stderr };
  }
  /** The files that a commit of everything would take, but for those that were there. */
  function taken(): string[] {
    const listed = execFileSync('git', ['ls-files', '--others', '--exclude-standard'], { cwd: clone });
    return String(listed)
      .split('\n')
      .filter((file) => file.endsWith('.env'));
  }

  it('writes what Docker Compose reads, and keeps it the second time', () => {
    expect(run()).toMatchObject({ status: 0 });
    const first = readFileSync(join(clone, '.env'), 'utf8');
    expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining('kept') as string });
    expect(readFileSync(join(clone, '.env'), 'utf8')).toBe(first);
    expect(taken()).toEqual([]);
  });

  it.each([
    [['--k8s']],
    [['--k8s', '']],
    [['--k8z', 'secrets']],
    [['-k8s', 'secrets']],
    [['k8s', 'secrets']],
    [['--k8s', 'secrets', 'postgres', 'more']],
    [['--service-key']],
    [['--service-key', 'gateway']],
    [['--k8s', 'secrets', '--service-key', 'core']],
  ])('%j is refused with how it is called, and writes nothing', (args) => {
    expect(run(...args)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('node infra/docker/make-secrets.mjs --k8s FOLDER [HOST]') as string,
    });
    for (const name of ['.env', 'secrets', 'k8s']) expect(existsSync(join(clone, name))).toBe(false);
  });

  it('refuses a folder that a commit would take', () => {
    expect(run('--k8s', 'k8s/secret')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('git would take') as string,
    });
    expect(existsSync(join(clone, 'k8s'))).toBe(false);
  });

  const documented = ['k8s/README.md', 'k8s/overlays/local/data/kustomization.yaml'].flatMap((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(/make-secrets\.mjs --k8s (\S+)/g)].map(
      ([, folder = '']) => [page, folder] as const,
    ),
  );
  it.each(documented)('the folder that %s names is ignored by git: %s', (_page, folder) => {
    expect(run('--k8s', folder, 'database.example.com')).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(join(clone, folder, 'core-owner.env'), 'utf8')).toContain('@database.example.com:');
    expect(taken()).toEqual([]);
  });

  it('pages name a folder for each kind of cluster', () => {
    expect(documented.map(([, folder]) => /overlays\/(\w+)/.exec(folder)?.[1])).toEqual(
      expect.arrayContaining(['local', 'production']),
    );
  });
});
