import type { KafkaSecurityConfig } from './pieces.js';
import { ConfigError } from './read-config.js';

/**
 * Refuses a production whose brokers do not know who writes to them: whoever reaches them would tell every module what to
 * believe. SASL or a certificate of the client's own is how they know.
 * @throws ConfigError
 */
export function demandKafkaAuthentication(
  read: Pick<
    KafkaSecurityConfig,
    'KAFKA_SASL_MECHANISM' | 'KAFKA_TLS' | 'KAFKA_TLS_CERT_FILE' | 'KAFKA_ALLOW_UNAUTHENTICATED'
  > & { readonly PLATFORM_MODE: 'local' | 'production' },
): void {
  if (read.PLATFORM_MODE !== 'production' || read.KAFKA_ALLOW_UNAUTHENTICATED) return;
  const byCertificate = read.KAFKA_TLS && read.KAFKA_TLS_CERT_FILE !== undefined;
  if (read.KAFKA_SASL_MECHANISM !== undefined || byCertificate) return;
  throw new ConfigError(
    'Production needs a Kafka that knows who writes to it: set KAFKA_SASL_MECHANISM, or KAFKA_TLS_CERT_FILE of KAFKA_TLS, ' +
      'or say KAFKA_ALLOW_UNAUTHENTICATED=true if nobody else reaches the brokers.',
  );
}
