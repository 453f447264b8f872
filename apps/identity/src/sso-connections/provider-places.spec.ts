import { ProviderBusy, ProviderPlaces } from './provider-places.js';

describe('places at providers', () => {
  /** How many of so many who come at once are let wait; all of them go at the end. */
  const letIn = async (count: number, of: (index: number) => { id: string; organizationId: string }) => {
    const places = new ProviderPlaces();
    const { promise: provider, resolve } = Promise.withResolvers<void>();
    const come = (index: number): Promise<unknown> =>
      places.run(of(index), () => provider).catch((error: unknown) => error);
    const first = Array.from({ length: count }, (_, index) => come(index));
    resolve();
    const refused = (await Promise.all(first)).filter((each) => each instanceof ProviderBusy).length;
    // Whoever waited has left the place, and whoever was refused has taken none.
    expect(await come(0)).toBeUndefined();
    return count - refused;
  };

  it('are 16 of a connection, 24 of an organization and 48 in all', async () => {
    expect(await letIn(30, () => ({ id: 'one', organizationId: 'one' }))).toBe(16);
    expect(await letIn(30, (index) => ({ id: String(index), organizationId: 'one' }))).toBe(24);
    expect(await letIn(60, (index) => ({ id: String(index), organizationId: String(index) }))).toBe(48);
  });

  it('are free again after a failure', async () => {
    const places = new ProviderPlaces();
    const of = { id: 'one', organizationId: 'one' };
    for (let time = 0; time < 20; time += 1)
      await expect(places.run(of, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    await expect(places.run(of, () => Promise.resolve('there'))).resolves.toBe('there');
  });
});
