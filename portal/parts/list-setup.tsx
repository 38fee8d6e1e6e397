import { useEffect, useRef, useState } from 'preact/hooks';
import { deviceConfigurations } from '../../src/exports/devices.ts';
import { ADMIN_API } from '../admin.ts';
import { post } from '../api.ts';
import { brief, type DeviceKey, type DeviceList, KEY_PLACEHOLDER, OWN_KEYS_API } from '../device-lists.ts';
import { session } from '../session.ts';
import { Card, CopyButton } from './basics.tsx';
import { Field, Form, type FormTexts, Select } from './forms.tsx';

type MadeKey = DeviceKey & { key: string };

/** A key for a device, and the configuration that uses it. */
export function ListSetup({ list, onKey }: { list: DeviceList; onKey(): void }) {
  const [made, setMade] = useState<MadeKey | null>(null);
  const shown = useRef(made);
  const step = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The button that had the focus is gone.
    if (shown.current !== made) step.current?.querySelector<HTMLElement>('section, input')?.focus();
    shown.current = made;
  }, [made]);
  const make = async (texts: FormTexts) => {
    setMade(await makeKey(list.name, texts));
    onKey();
  };
  return (
    <Card title="Set up a device">
      <div class="stack">
        <h3 class="step">1. Make a key for it</h3>
        <div ref={step}>
          {made === null ? <KeyForm make={make} /> : <NewKey made={made} onAnother={() => setMade(null)} />}
        </div>
        <h3 class="step">2. Configure the device</h3>
        <Configuration list={list} keyText={made?.key ?? KEY_PLACEHOLDER} />
      </div>
    </Card>
  );
}

/** Administrators may make a key for another account. */
function makeKey(list: string, { device, username }: FormTexts): Promise<MadeKey> {
  const isOther = username !== undefined && username !== session.value?.username;
  return isOther
    ? post<MadeKey>(`${ADMIN_API}/list-keys`, { list, device, username })
    : post<MadeKey>(OWN_KEYS_API, { list, device });
}

function KeyForm({ make }: { make(texts: FormTexts): Promise<void> }) {
  const who = session.value;
  return (
    <div class="key-form">
      <Form submit="Make a key" onSubmit={make}>
        <Field
          label="Name of the device"
          name="device"
          isRequired
          hint="Such as firewall, main office. A key costs one query."
        />
        {who?.admin && (
          <Field label="Account" name="username" value={who.username} hint="Its limits count: a fetch is one query." />
        )}
      </Form>
    </div>
  );
}

/** Only the response to its making has the key. */
function NewKey({ made, onAnother }: { made: MadeKey; onAnother(): void }) {
  return (
    <section class="new-key stack" tabIndex={-1} aria-label="The new key">
      <p role="status">
        <strong>The key of {brief(made.device)} is shown only now.</strong> It opens this list and no other. The
        configuration below contains it.
      </p>
      <pre class="secret">{made.key}</pre>
      <div class="row">
        <CopyButton text={made.key} what="Key copied">
          Copy the key
        </CopyButton>
        <button type="button" class="button quiet" onClick={onAnother}>
          Make another key
        </button>
      </div>
    </section>
  );
}

function Configuration({ list, keyText }: { list: DeviceList; keyText: string }) {
  const { name, kind } = list;
  const devices = deviceConfigurations({ baseUrl: location.origin, name, kind, key: keyText });
  const [chosen, setChosen] = useState(devices[0]?.device.name ?? '');
  const shown = devices.find(({ device }) => device.name === chosen);
  if (shown === undefined) return null;
  const { device, address, text } = shown;
  return (
    <>
      <Select
        label="Device or program"
        name="kind-of-device"
        value={chosen}
        options={devices.map((one) => ({ value: one.device.name, text: one.device.title }))}
        onChoice={setChosen}
      />
      <p class="dim small">{device.note}</p>
      <pre>{text}</pre>
      <div class="row">
        <CopyButton text={text} what="Configuration copied">
          Copy the configuration
        </CopyButton>
        <CopyButton text={address} what="Address copied">
          Copy only the address
        </CopyButton>
        {keyText === KEY_PLACEHOLDER && <span class="dim small">Make a key first: it is filled in.</span>}
      </div>
    </>
  );
}
