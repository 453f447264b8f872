export { AddressList, addressList, plainAddress } from './address-list.js';
export { CONSOLE_CLIENT_ID, CONSOLE_PATHS } from './console.js';
export { keyringOf, type Keyring, type NamedKey } from './keyring.js';
export { ConfigError, readConfig } from './read-config.js';
export { base64Key, commaList, httpUrl, jsonText, portNumber, wholeNumber } from './values.js';
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
  redisConfig,
  returnedMailConfig,
  secretsConfig,
  senderDomainsConfig,
  serviceConfig,
  type ImportBucketConfig,
  type KafkaConfig,
  type KafkaSecurityConfig,
  type SecretsConfig,
  type ServiceConfig,
} from './pieces.js';
