import {
  type readConfig,
  addressPeppersConfig,
  databaseConfig,
  encryptionConfig,
  gatewayAddressesConfig,
  kafkaConfig,
  kafkaSecurityConfig,
  ledgerConfig,
  peersConfig,
  publicUrlsConfig,
  secretsConfig,
  serviceConfig,
} from '@customer-platform/config';

/** What must be there for a process to start, put together from the pieces of libs/config. */
export const schemas = {
  gateway: serviceConfig.extend(publicUrlsConfig.shape),
  console: serviceConfig,
  module: serviceConfig
    .extend(gatewayAddressesConfig.shape)
    .extend(databaseConfig.omit({ DATABASE_OWNER_URL: true }).shape)
    .extend(kafkaConfig.shape)
    .extend(kafkaSecurityConfig.shape)
    .extend(peersConfig.shape)
    .extend(secretsConfig.shape)
    .extend(encryptionConfig.shape),
  migration: databaseConfig.pick({ DATABASE_OWNER_URL: true }).required(),
};

/** What one module reads beyond the others. */
export const own = new Map<string, Parameters<typeof readConfig>[0]>([
  ['crm', publicUrlsConfig.pick({ CORE_URL: true, LOYALTY_URL: true, MESSAGING_URL: true })],
  ['messaging', addressPeppersConfig],
  ['loyalty', ledgerConfig],
]);
