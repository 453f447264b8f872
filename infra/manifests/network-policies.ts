import { BlockList, isIP } from 'node:net';
import type { Resource } from './builds.ts';

interface Selector {
  matchLabels?: Record<string, string>;
}
interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}
interface Rule {
  ports?: { port?: number | string; endPort?: number }[];
  from?: Peer[];
  to?: Peer[];
}
/** A network policy's rules. */
export interface Policy {
  podSelector: Selector;
  policyTypes: string[];
  ingress?: Rule[];
  egress?: Rule[];
}

/** A pod, as network policies see it. */
export interface Pod {
  labels: Record<string, string>;
  /** Unless it is one of the platform's own namespace. */
  namespace?: string;
}

const NAMED_PORTS: Record<string, number> = { public: 3000, internal: 3001 };
const NAMESPACE = 'customer-platform';
/** Where pods are, by IPv4: what a policy says of addresses outside, or of IPv6, is not said of them. */
const ADDRESS_OF_PODS = '10.1.2.3';

/** Whether these policies let one pod of the platform's namespace open a connection to a port of another. */
export function reaches(resources: readonly Resource[], from: Pod, to: Pod, port: number): boolean {
  const policies = resources.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec as Policy);
  const allowed = (direction: 'Ingress' | 'Egress', pod: Pod, other: Pod): boolean => {
    const own = policies.filter(
      ({ podSelector, policyTypes }) =>
        policyTypes.includes(direction) && pod.namespace === undefined && selects(podSelector, pod.labels),
    );
    if (own.length === 0) return true;
    return own
      .flatMap((policy) => (direction === 'Ingress' ? policy.ingress : policy.egress) ?? [])
      .some((rule) => opens(rule, port) && concerns(direction === 'Ingress' ? rule.from : rule.to, other));
  };
  return allowed('Egress', from, to) && allowed('Ingress', to, from);
}

function selects({ matchLabels = {} }: Selector, labels: Record<string, string>): boolean {
  return Object.entries(matchLabels).every(([name, value]) => labels[name] === value);
}

function opens({ ports }: Rule, port: number): boolean {
  if (ports === undefined) return true;
  return ports.some(({ port: named = port, endPort }) => {
    const first = typeof named === 'string' ? NAMED_PORTS[named] : named;
    return first !== undefined && port >= first && port <= (endPort ?? first);
  });
}

function concerns(peers: Peer[] | undefined, { labels, namespace = NAMESPACE }: Pod): boolean {
  if (peers === undefined) return true;
  return peers.some(({ podSelector = {}, namespaceSelector, ipBlock }) => {
    if (ipBlock) return includes([ipBlock.cidr]) && !includes(ipBlock.except ?? []);
    const there = namespaceSelector
      ? selects(namespaceSelector, { 'kubernetes.io/metadata.name': namespace })
      : namespace === NAMESPACE;
    return there && selects(podSelector, labels);
  });
}

function includes(networks: string[]): boolean {
  const list = new BlockList();
  for (const network of networks.filter((text) => isIP(text.split('/')[0] ?? '') === 4)) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits));
  }
  return list.check(ADDRESS_OF_PODS);
}
