import { bundledComponents, noticesOf, withDigests, type Bom } from './bom.ts';

const digest = Buffer.alloc(64, 7);
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const at = (path: string) => [{ name: 'cdx:npm:package:path', value: path }];
const mit = [{ license: { id: 'MIT' } }];
const text = (content: string) => ({ licenses: [{ license: { text: { content: base64(content) } } }] });

const bom: Bom = {
  components: [
    { group: '@customer-platform', name: 'core', version: '1.0.0', properties: at('apps/core') },
    {
      name: 'pg',
      version: '8.23.1',
      licenses: mit,
      evidence: text('Copyright A'),
      properties: at('node_modules/pg'),
    },
    {
      group: '@nestjs',
      name: 'common',
      version: '12.5.1',
      licenses: mit,
      evidence: text('Copyright A'),
      properties: at('node_modules/@nestjs/common'),
    },
    { name: 'config-chain', version: '1.1.13', properties: at('node_modules/config-chain') },
  ],
};
const integrity = `sha512-${digest.toString('base64')}`;
const lock = {
  'node_modules/pg': { version: '8.23.1', integrity },
  'node_modules/@nestjs/common': { version: '12.5.1', integrity },
  'node_modules/config-chain': { version: '1.1.13', integrity },
};

describe('the bill of materials', () => {
  it('has what comes from elsewhere, each with the digest of the lock file', () => {
    const { components } = withDigests(bom, lock);
    expect(components.map(({ name }) => name)).toEqual(['pg', 'common', 'config-chain']);
    for (const { hashes } of components)
      expect(hashes).toEqual([{ alg: 'SHA-512', content: digest.toString('hex') }]);
  });

  it.each([
    ['is not locked', {}],
    ['is locked in another version', { 'node_modules/pg': { version: '8.0.0', integrity } }],
    ['has no digest', { 'node_modules/pg': { version: '8.23.1' } }],
  ])('is not made where a package %s', (_case, over) => {
    const { 'node_modules/pg': _pg, ...rest } = lock;
    expect(() => withDigests(bom, { ...rest, ...over })).toThrow('pg 8.23.1 (node_modules/pg) is not what');
  });

  it('has what is in the Console’s files, under the name and the place that are locked', () => {
    const known = { ...lock, 'node_modules/@base-ui/react': { version: '1.9.0', integrity } };
    const [component] = bundledComponents(
      [{ name: '@base-ui/react', version: '1.9.0', identifier: 'MIT', text: 'Copyright B' }],
      known,
    );
    if (!component) throw new Error('no component');
    expect(component).toMatchObject({
      group: '@base-ui',
      name: 'react',
      purl: 'pkg:npm/%40base-ui/react@1.9.0',
      properties: at('node_modules/@base-ui/react'),
    });
    const whole = withDigests({ components: [component] }, known);
    expect(noticesOf(whole)).toContain('- @base-ui/react 1.9.0 (MIT)\n\n`````text\nCopyright B');
    expect(() =>
      withDigests({ components: bundledComponents([{ name: 'gone', version: '1.0.0' }], known) }, known),
    ).toThrow('gone 1.0.0');
  });

  it('becomes notices: each text once, below the packages that come under it', () => {
    const notices = noticesOf(withDigests(bom, lock));
    expect(notices).toContain(
      '- @nestjs/common 12.5.1 (MIT)\n- pg 8.23.1 (MIT)\n\n`````text\nCopyright A\n`````',
    );
    expect(notices.split('Copyright A')).toHaveLength(2);
    expect(notices).toContain('- config-chain 1.1.13 (no license declared)\n\nThese come without');
    expect(notices).not.toContain('@customer-platform');
  });
});
