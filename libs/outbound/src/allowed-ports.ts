const USUAL = [80, 443];

/** Which ports of customers' hosts an installation calls by HTTP. */
export interface PortsCalled {
  /** Local mode: whatever listens on this machine has whatever port it was given. */
  readonly allowLoopback: boolean;
  /** Beside 80 and 443 (OUTBOUND_PORTS); none unless given. */
  readonly ports?: readonly number[] | undefined;
}

/**
 * Whether a customer's address names a port that is called. A platform that posts to any port of any host speaks, for
 * whoever asks it, to mail servers and databases, and tells which of them answer.
 */
export function isAllowedPort(url: URL, { allowLoopback, ports = [] }: PortsCalled): boolean {
  if (allowLoopback || url.port === '') return true;
  return [...USUAL, ...ports].includes(Number(url.port));
}
