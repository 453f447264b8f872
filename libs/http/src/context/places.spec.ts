import { Places, type PlaceScope } from './places.js';

class Full extends Error {
  constructor(readonly scope: PlaceScope) {
    super(scope);
  }
}

const BOUNDS = { inAll: 6, ofTenant: 4, ofOrganization: 3 };
const of = (organizationId: string, tenant?: string) => ({
  organizationId,
  organization: tenant === undefined ? {} : { tenant_id: tenant },
});

describe('places', () => {
  const scopeOf = (places: Places, owner: ReturnType<typeof of>): PlaceScope | undefined => {
    try {
      places.take(owner)();
      return undefined;
    } catch (error) {
      if (error instanceof Full) return error.scope;
      throw error;
    }
  };

  it('are bounded by organization, by tenant however many organizations it has, and in all', () => {
    const places = new Places(BOUNDS, (scope) => new Full(scope));
    const leave = [of('a', 'a'), of('a', 'a'), of('a', 'a')].map((owner) => places.take(owner));
    expect(scopeOf(places, of('a', 'a'))).toBe('organization');
    // Its siblings are not starved, and have one between them.
    leave.push(places.take(of('a1', 'a')));
    for (const child of ['a1', 'a2', 'a3']) expect(scopeOf(places, of(child, 'a'))).toBe('organization');
    leave.push(places.take(of('b1', 'b')), places.take(of('root')));
    for (const owner of [of('b1', 'b'), of('root')]) expect(scopeOf(places, owner)).toBe('platform');
    leave.forEach((each) => each());
    leave.forEach((each) => each());
    for (const owner of [of('a', 'a'), of('a2', 'a'), of('b1', 'b')])
      expect(scopeOf(places, owner)).toBeUndefined();
    for (let time = 0; time < BOUNDS.ofOrganization; time += 1) places.take(of('a', 'a'));
    expect(scopeOf(places, of('a', 'a'))).toBe('organization');
  });

  it('come free however the work ends', async () => {
    const places = new Places(BOUNDS, (scope) => new Full(scope));
    for (let time = 0; time < 10; time += 1)
      await expect(places.hold(of('a'), () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await expect(places.hold(of('a'), () => Promise.resolve(1))).resolves.toBe(1);
  });

  it('leave nobody all of another’s', () => {
    for (const bounds of [
      { ...BOUNDS, ofOrganization: 4 },
      { ...BOUNDS, ofTenant: 6 },
    ])
      expect(() => new Places(bounds, (scope) => new Full(scope))).toThrow(TypeError);
  });
});
