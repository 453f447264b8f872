import { eventually } from '@customer-platform/testing';
import type { OrganizationTenants } from './organization-tenants.js';
import { ProviderBusy, ProviderPlaces, type PlaceOf } from './provider-places.js';

/** Organizations by name: `tenant.child`. */
const TENANTS = { of: (id: string) => Promise.resolve(id.split('.')[0] ?? id) } as OrganizationTenants;

describe('places at providers', () => {
  /** How many of so many who come at once are let wait; all of them go at the end. */
  const letIn = async (count: number, of: (index: number) => PlaceOf) => {
    const places = new ProviderPlaces(TENANTS);
    const { promise: provider, resolve } = Promise.withResolvers<void>();
    let [waiting, refused] = [0, 0];
    const come = (index: number): Promise<unknown> => {
      const work = (): Promise<void> => {
        waiting += 1;
        return provider;
      };
      return places.run(of(index), work).catch((error: unknown) => {
        if (!(error instanceof ProviderBusy)) throw error;
        refused += 1;
      });
    };
    const all = Array.from({ length: count }, (_, index) => come(index));
    await eventually(() => Promise.resolve(expect(waiting + refused).toBe(count)));
    const there = waiting;
    resolve();
    await Promise.all(all);
    // Whoever waited has left the place, and whoever was refused has taken none.
    await come(0);
    expect([waiting, refused]).toEqual([there + 1, count - there]);
    return there;
  };

  it('are 16 of a connection, 18 of an organization, 24 of a tenant with all its children, and 48 in all', async () => {
    expect(await letIn(30, () => ({ id: 'one', organizationId: 'one' }))).toBe(16);
    expect(await letIn(30, (index) => ({ id: String(index), organizationId: 'one' }))).toBe(18);
    const child = (index: number) => ({ id: String(index), organizationId: `one.${String(index)}` });
    expect(await letIn(30, child)).toBe(24);
    expect(await letIn(60, (index) => ({ id: String(index), organizationId: String(index) }))).toBe(48);
  });

  it('are free again after a failure', async () => {
    const places = new ProviderPlaces(TENANTS);
    const of = { id: 'one', organizationId: 'one' };
    for (let time = 0; time < 20; time += 1)
      await expect(places.run(of, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    await expect(places.run(of, () => Promise.resolve('there'))).resolves.toBe('there');
  });
});
