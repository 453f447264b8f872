import { demandKafkaAuthentication, kafkaSecurityConfig, readConfig, serviceConfig } from './index.js';

const config = serviceConfig.extend(kafkaSecurityConfig.shape);
const start = (env: Record<string, string>) => () => demandKafkaAuthentication(readConfig(config, env));

describe('production', () => {
  it.each<Record<string, string>>([
    {},
    { KAFKA_TLS: 'true' },
    { KAFKA_SASL_MECHANISM: '' },
    { KAFKA_ALLOW_UNAUTHENTICATED: 'false' },
  ])('refuses a Kafka that does not ask who writes: %j', (env) =>
    expect(start(env)).toThrow(/KAFKA_ALLOW_UNAUTHENTICATED=true/),
  );

  it.each<Record<string, string>>([
    { KAFKA_SASL_MECHANISM: 'scram-sha-512' },
    { KAFKA_SASL_MECHANISM: 'oauthbearer' },
    { KAFKA_TLS: 'true', KAFKA_TLS_CERT_FILE: '/tls.crt', KAFKA_TLS_KEY_FILE: '/tls.key' },
    { KAFKA_ALLOW_UNAUTHENTICATED: 'true' },
  ])('starts with %j', (env) => expect(start(env)).not.toThrow());
});

it('local mode starts with any', () => expect(start({ PLATFORM_MODE: 'local' })).not.toThrow());
