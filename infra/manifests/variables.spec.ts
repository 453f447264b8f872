import { variablesOf } from './variables.ts';

describe('the variables of an app', () => {
  it('are those of the pieces it reads, of what its libraries read, and its own', () => {
    const core = variablesOf('core');
    for (const name of ['REDIS_URL', 'KAFKA_SASL_PASSWORD', 'CURSOR_SECRET', 'OTEL_EXPORTER_OTLP_ENDPOINT'])
      expect(core).toContain(name);
    expect(variablesOf('messaging')).toContain('PROVIDER_SECRET');
    expect(variablesOf('gateway')).toContain('TLS_CERT_FILE');
    expect([...variablesOf('console')].sort()).toEqual([
      'DRAIN_SECONDS',
      'HOST',
      'INTERNAL_PORT',
      'LOG_LEVEL',
      'MODULES_TLS_CA_FILE',
      'MODULES_TLS_CERT_FILE',
      'MODULES_TLS_DEMAND_CLIENTS',
      'MODULES_TLS_KEY_FILE',
      'PLATFORM_MODE',
      'PORT',
      'RELEASE',
    ]);
    for (const name of ['KAFKA_BROKERS', 'PROCESS_ROLE', 'DATABASE_URL'])
      expect(variablesOf('gateway')).not.toContain(name);
    expect(variablesOf('crm')).not.toContain('REDIS_URL');
  });
});
