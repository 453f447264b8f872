import { InternalPeer } from '@customer-platform/testing';

/** The modules that are asked before the purge of an organization. */
export const PEERS = ['core', 'crm', 'loyalty', 'messaging'] as const;

/** One of them. */
type Peer = (typeof PEERS)[number];

/** The other modules, as far as the purge of an organization asks them. */
export class OrganizationPeers {
  private readonly counts = new Map<string, { resource: string; count: number }>();

  private constructor(readonly of: Record<Peer, InternalPeer>) {}

  /** Starts modules that have nothing of any organization. */
  static async start(): Promise<OrganizationPeers> {
    const counts = (peer: Peer) => (body: unknown) => {
      const { id = '' } = body as { id?: string };
      const counted = peers.counts.get(`${peer} ${id}`);
      return { references: counted ? [counted] : [] };
    };
    const start = (peer: Peer) =>
      InternalPeer.start({
        'POST /internal/references': counts(peer),
        'POST /internal/references/release': () => ({}),
      });
    const peers: OrganizationPeers = new OrganizationPeers({
      core: await start('core'),
      crm: await start('crm'),
      loyalty: await start('loyalty'),
      messaging: await start('messaging'),
    });
    return peers;
  }

  /** Where identity finds them. */
  get env(): Record<string, string> {
    return Object.fromEntries(PEERS.map((peer) => [`${peer.toUpperCase()}_INTERNAL_URL`, this.of[peer].url]));
  }

  /** From now on the module has so much of the organization. */
  count(peer: Peer, id: string, resource: string, count: number): void {
    this.counts.set(`${peer} ${id}`, { resource, count });
  }

  async close(): Promise<void> {
    await Promise.all(PEERS.map((peer) => this.of[peer].close()));
  }
}
