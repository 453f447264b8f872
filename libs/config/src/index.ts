export { AddressList, addressList, networkOf, plainAddress } from './address-list.js';
export { ConcurrencyLimit, type ConcurrencyRules } from './concurrency-limit.js';
export { CONSOLE_CLIENT_ID, CONSOLE_PATHS } from './console.js';
export { GrowingBuffer } from './growing-buffer.js';
export { demandKafkaAuthentication } from './kafka-authentication.js';
export { keyringOf, type Keyring } from './keyring.js';
export { moduleServer, ModulesTls, modulesTlsConfig } from './modules-tls.js';
export { destroyConnections, watchConnections } from './open-connections.js';
export { ProcessEnd, readOrExit } from './process-end.js';
export { demandPublicUrl } from './public-url.js';
export { ConfigError, readConfig } from './read-config.js';
export { REFUSES_FOR } from './refuses-for.js';
export { RELEASE, VERSION } from './release.js';
export { ownerOfServiceKey } from './service-key.js';
export { readTlsFiles, type TlsContents } from './tls-files.js';
export { commaList, httpUrl } from './values.js';
export {
  addressPeppersConfig,
  consoleConfig,
  databaseConfig,
  domainProofConfig,
  drainMs,
  encryptionConfig,
  eventLoopLookMs,
  gatewayAddressesConfig,
  initialLogLevel,
  kafkaConfig,
  kafkaSecurityConfig,
  ledgerConfig,
  peersConfig,
  publicUrlsConfig,
  importBucketConfig,
  importFilesConfig,
  recordProofsConfig,
  redisConfig,
  outboundConfig,
  returnedMailConfig,
  secretsConfig,
  senderDomainsConfig,
  serviceConfig,
  type ImportBucketConfig,
  type KafkaSecurityConfig,
  type SecretsConfig,
} from './pieces.js';
