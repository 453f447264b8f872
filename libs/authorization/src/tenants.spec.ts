import type { ResolvedCredential } from './protocol.js';
import { Tenants } from './tenants.js';

/** A registry that answers nobody until it is told to know none of them. */
class SilentRegistry {
  readonly asked: string[] = [];
  private readonly refusals: ((error: Error) => void)[] = [];

  resolveTenant({ organization_id: id }: { organization_id: string }): Promise<ResolvedCredential> {
    this.asked.push(id);
    return new Promise((_, reject) => {
      this.refusals.push(reject);
    });
  }

  async refuse(): Promise<void> {
    for (const reject of this.refusals.splice(0)) reject(new Error('unknown'));
    await new Promise(setImmediate);
  }
}

describe('the tenant that a credential has told', () => {
  it('holds, also of an organization that the registry was still to be asked about', async () => {
    const registry = new SilentRegistry();
    const tenants = new Tenants(registry, { now: () => new Date(0) });
    for (const id of ['first', 'second', 'third', 'fourth']) tenants.of(id);
    expect(registry.asked).toEqual(['first', 'second']);
    tenants.learn({ id: 'third', tenant_id: 'tenant' });
    await registry.refuse();
    expect(registry.asked).toEqual(['first', 'second', 'fourth']);
    expect([tenants.of('third'), tenants.whoseTurn('third')]).toEqual(['tenant', 'tenant']);
  });
});
