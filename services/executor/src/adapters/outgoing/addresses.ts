import { BlockList, isIP, isIPv4 } from 'node:net';

/** Addresses that are no host of the public internet (IANA's special-purpose registries). */
const SPECIAL: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

/** A list of addresses and ranges. Throws `RangeError` where one is none. */
export function addressRanges(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

const special = addressRanges(SPECIAL);

/** The IPv4 address that an IPv6 one stands for: mapped, or translated (64:ff9b::/96); else `null`. */
function embeddedIPv4(address: string): string | null {
  const tail = /^(?:::ffff:|64:ff9b::)(.+)$/i.exec(address)?.[1];
  if (tail === undefined) return null;
  if (isIPv4(tail)) return tail;
  const words = /^([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(tail);
  if (words === null) return null;
  const [high, low] = [Number.parseInt(words[1] as string, 16), Number.parseInt(words[2] as string, 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** Whether a connection may be made to an address: to a public one, or to one that is allowed by name. */
export function mayDial(address: string, allowed: BlockList): boolean {
  // A zone names an interface of this machine.
  if (address.includes('%') || isIP(address) === 0) return false;
  const plain = isIPv4(address) ? address : normalised(address);
  const inner = isIPv4(plain) ? plain : embeddedIPv4(plain);
  const judged = inner ?? plain;
  const family = isIPv4(judged) ? 'ipv4' : 'ipv6';
  return allowed.check(judged, family) || !special.check(judged, family);
}

/** An IPv6 address in its one shortest form. */
const normalised = (address: string): string => new URL(`http://[${address}]/`).hostname.slice(1, -1);
