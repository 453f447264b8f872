import { changesOf, matrixOf } from './matrix.ts';

const permission = (name: string) => {
  const [module = '', resource = '', action = ''] = name.split('.');
  return { permission: name, module, resource, action, description: name };
};

describe('the matrix of permissions', () => {
  it('has a row a resource, what most have in columns, and what only few have beside', () => {
    const read = permission('core.contacts.read');
    const merge = permission('core.contacts.merge');
    const start = permission('identity.impersonation.start');
    expect(matrixOf([read, merge, start])).toEqual([
      { module: 'core', rows: [{ resource: 'contacts', common: { read }, further: [merge] }] },
      { module: 'identity', rows: [{ resource: 'impersonation', common: {}, further: [start] }] },
    ]);
  });

  it('says what a change gives and takes', () => {
    expect(changesOf(new Set(['a.read', 'b.read']), new Set(['b.read', 'd.read', 'c.read']))).toEqual({
      added: ['c.read', 'd.read'],
      removed: ['a.read'],
    });
  });
});
