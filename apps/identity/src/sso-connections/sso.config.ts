import {
  domainProofConfig,
  encryptionConfig,
  keyringOf,
  outboundConfig,
  readConfig,
  serviceConfig,
  type Keyring,
} from '@customer-platform/config';

/** What single sign-on reads of the environment. */
export interface SsoConfig {
  readonly local: boolean;
  /** Ports that issuers may name beside 80 and 443. */
  readonly outboundPorts: readonly number[];
  readonly keyring: Keyring;
  /** Where the provider of a connection sends people back to: each has an address of its own (RFC 9700, 4.4.2.2). */
  readonly redirectUriOf: (connectionId: string) => string;
  /** Whom to ask for the proofs of domains; undefined: the system's name servers. */
  readonly dnsServers: readonly string[] | undefined;
}

/** Injection token of the {@link SsoConfig}. */
export const SSO_CONFIG = Symbol('SSO_CONFIG');

/** Reads the environment. @throws ConfigError naming what is missing or wrong */
export function ssoConfig(): SsoConfig {
  const { PLATFORM_MODE, PUBLIC_URL } = readConfig(
    serviceConfig.pick({ PLATFORM_MODE: true, PUBLIC_URL: true }),
  );
  return {
    local: PLATFORM_MODE === 'local',
    outboundPorts: readConfig(outboundConfig).OUTBOUND_PORTS ?? [],
    keyring: keyringOf(readConfig(encryptionConfig)),
    redirectUriOf: (connectionId) => `${PUBLIC_URL}/oauth/sso/callback/${connectionId}`,
    dnsServers: readConfig(domainProofConfig).SSO_DNS_SERVERS,
  };
}
