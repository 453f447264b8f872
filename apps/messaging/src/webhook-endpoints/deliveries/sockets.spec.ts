import type { Tenants } from '../../background/organizations/tenants.js';
import { Sockets, SOCKETS_AT_ONCE } from './sockets.js';

/** Organizations by name: `tenant.child`. */
const TENANTS = { of: (id: string) => id.split('.')[0] ?? id } as Tenants;

const endpoint = (organizationId: string, at = 0) => ({
  organization_id: organizationId,
  id: `${organizationId}/${String(at)}`,
  free: 10,
});

describe('the sockets of a process', () => {
  it('go to no tenant in full, however many organizations with endpoints that hang it founds', () => {
    const sockets = new Sockets(TENANTS);
    const children = Array.from({ length: 1_000 }, (_, at) => endpoint(`many.${String(at)}`));
    const one = endpoint('one.child');
    // The first in line have all that there is to have.
    const given = sockets.share([...children, one]);
    const theirs = children.reduce((sum, { id }) => sum + given.count(id), 0);
    expect([theirs, given.count(one.id), sockets.isShort]).toEqual([SOCKETS_AT_ONCE.ofTenant, 10, true]);
    given.release();
    expect(sockets.share([one]).count(one.id)).toBe(10);
    expect(sockets.isShort).toBe(false);
  });

  it('are left to the siblings of an organization that has many endpoints', () => {
    const sockets = new Sockets(TENANTS);
    const own = Array.from({ length: 100 }, (_, at) => endpoint('one.many', at));
    const sibling = endpoint('one.other');
    const given = sockets.share([...own, sibling]);
    const theirs = own.reduce((sum, { id }) => sum + given.count(id), 0);
    expect([theirs, given.count(sibling.id)]).toEqual([SOCKETS_AT_ONCE.ofOrganization, 10]);
  });

  it('are held for as long as they are used, and what was not used is free at once', () => {
    const sockets = new Sockets(TENANTS);
    const own = Array.from({ length: 100 }, (_, at) => endpoint('one', at));
    const first = sockets.share(own);
    const [used] = own;
    const leave = first.use(used?.id ?? '');
    expect(() => first.use('another')).toThrow();
    first.release();
    const left = (): number => {
      const given = sockets.share(own);
      const sum = own.reduce((count, { id }) => count + given.count(id), 0);
      given.release();
      return sum;
    };
    expect(left()).toBe(SOCKETS_AT_ONCE.ofOrganization - 1);
    leave();
    expect(left()).toBe(SOCKETS_AT_ONCE.ofOrganization);
  });
});
