import { useMutation } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Code } from '../ui/json.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';

/** For an organization that nothing was sent to yet: a key, an event, and where it is to be seen. */
export function FirstSteps(): ReactNode {
  const t = useTranslations('home');
  const may = useMay();
  const key = useFreshKey();
  const shown = key.data ?? '$KEY';
  return (
    <Section title={t('steps.title')} lead={t('steps.lead')}>
      <ol className="flex list-decimal flex-col gap-6 pl-5">
        <li>
          <p className="font-medium">{t('steps.key')}</p>
          <p className="mb-2 text-soft">{t('steps.keyLead')}</p>
          {key.error !== null && <Failure error={key.error} />}
          {key.data !== undefined && <Note tone="good">{t('steps.keyOnce')}</Note>}
          {may('identity.api_keys.create') && may('identity.roles.read') && key.data === undefined && (
            <Button look="main" busy={key.isPending} onClick={() => key.mutate()}>
              <KeyRound aria-hidden className="size-4" />
              {t('steps.makeKey')}
            </Button>
          )}
        </li>
        <li>
          <p className="mb-2 font-medium">{t('steps.send')}</p>
          <Code label={t('steps.send')} text={curlLine(shown)} />
        </li>
        <li>
          <p className="mb-2 font-medium">{t('steps.identify')}</p>
          <Code label={t('steps.identify')} text={identifyLine(shown)} />
        </li>
      </ol>
    </Section>
  );
}

/** A key of the built-in role that may send events and nothing else. */
function useFreshKey() {
  const api = useApi();
  return useMutation({
    mutationFn: async () => {
      const query = { built_in: true, kind: 'machine', limit: 200 } as const;
      const { data: roles } = await api.GET('/v1/identity/roles', { params: { query } });
      const role = roles.data.find(({ key }) => key === 'ingest');
      if (role === undefined) throw new Error('There is no built-in role for sending events');
      const body = { name: 'First events', role_id: role.id };
      const { data } = await api.POST('/v1/identity/api-keys', { body });
      return data.key;
    },
  });
}

function curlLine(key: string): string {
  return post(key, 'track', {
    event: 'purchase_completed',
    external_id: 'customer-1',
    idempotency_key: 'order-1001',
    occurred_at: new Date().toISOString(),
    properties: { amount: 12_990, currency: 'CLP' },
  });
}

function identifyLine(key: string): string {
  return post(key, 'identify', {
    external_id: 'customer-1',
    idempotency_key: 'profile-1001',
    occurred_at: new Date().toISOString(),
    traits: { first_name: 'Ana', last_name: 'Rojas', email: 'ana@example.com' },
  });
}

function post(key: string, route: string, body: object): string {
  return [
    `curl -sS ${window.location.origin}/v1/core/${route}`,
    `-H 'Authorization: Bearer ${key}'`,
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify(body)}'`,
  ].join(' \\\n  ');
}
