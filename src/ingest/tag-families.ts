import { readFileSync, statSync } from 'node:fs';
import { AppError, badRequest } from '../core/errors.ts';
import { tagFault } from '../core/observation.ts';
import { foldFamily } from '../core/text.ts';
import { FAMILY_NAMES } from './family-names.ts';

/** The malware families that tags name, each once. */
export type FamiliesOfTags = (tags: readonly string[]) => string[];

/** Types of files, architectures and widths of processors, encodings: never a family, not even in `--families`. */
const FILE_WORDS = wordsOf(`
  7z, aarch64, apk, arc, arm, arm4, arm5, arm5n, arm6, arm64, arm7, arm8, armv4l, armv5l, armv6l, armv7l, ascii, asp, aspx, bash,
  bash script, bat, bin, bin.sh, base64, bz2, cab, chm, class, cmd, com, cpl, crx, csv, deb, dex, dll, dmg, doc, docm, docx, elf,
  elf32, elf64, encoded, encrypted, excel, exe, exe32, exe64, gif, gz, gzip, hta, htm, html, i386, i486, i586, i686, ia32, ia64, img,
  inf, ini, intel, iso, jar, java, java-bytecode, javascript, jpeg, jpg, js, jse, json, lnk, lua, m68k, mach-o, macho, mips,
  mips64, mipsel, motorola, mp3, mp4, mpsl, msi, msix, msu, ocx, odt, one, onenote, ova, pdf, pe, pe32, pe64, perl, php, pif, pkg, pl, png,
  powerpc, powershell, ppc, ppc64, ppt, pptx, ps, ps1, psm1, pub, py, pyc, python, rar, raw, reg, renesas, riscv, rpm, rtf, s390x, sct, scr,
  sh, sh4, shell, shellcode, shellscript, shtml, so, sparc, spc, superh, svg, swf, sys, tar, tar.gz, tgz, txt, udf, url, vba, vbe, vbs, vbscript,
  vhd, vhdx, wasm, wav, wim, word, wsf, x32, x64, x86, x86-32, x86-64, x86_32, x86_64, xhtml, xll, xls, xlsb, xlsm, xlsx, xml, xz, zip,
  16-bit, 32, 32-bit, 32bit, 64, 64-bit, 64bit`);

/** Kinds of malware, techniques, and remarks about a URL or its file. A family of this name must be in `--families`. */
const GENERAL_WORDS = wordsOf(`
  adware, agent, android, apt, backdoor, badware, banker, banking trojan, bot, botnet, botnetcc, botnetdomain, bruteforce, bypass, c&c, c2, cdn,
  censys, clicker, clickfix, clipper, cnc, coin miner, coinminer, config, connectback, cracked, crypter, cryptominer, cryptor, cve, ddos,
  ddosagent, decoy, discord, downloader, dropbox, dropped, dropper, exploit, exploitkit, fake, fakeapp, fakecaptcha, fakeupdate, framework, generic,
  geofenced, git, github, grayware, hacktool, heur, heuristic, infostealer, injector, iot, ircbot, keylogger, keygen, landing, linux, loader,
  macos, magecart, maldoc, malicious, malspam, malware, malware_download, miner, obfuscated, opendir, osx, packed, packer, password-protected,
  payload, phish, phishing, proxy, pua, pup, pw-protected, pws, ransom, ransomware, rat, redirect, redirector, remote access trojan, reverseshell,
  riskware, rootkit, scam, scanner, script, seopoisoning, signed, skimmer, spam, spambot, spyware, stage1, stage2, stager, stealer, stealers, suspicious,
  symbian, telegram, test, tool, toolkit, traffer, trojan, ua-curl, ua-ps, ua-wget, undetected, unix, unknown, unknown malware,
  unknown rat, unknown stealer, unknown loader, upx, vbs-downloader, virus, webshell, wget, windows, wiper, worm, xml-opendir`);

/** A shorter stored name is more often a country (`USA`) or a type of file than a family. */
const STORED_MIN_LENGTH = 4;

type FamilySources = {
  /** In the order in which they were stored. */
  stored: readonly string[];
  /** From `--families`. */
  given: readonly string[];
};

/**
 * The spelling is that of the built-in list, then the stored one that came first, then that of `--families`. In this order,
 * an import that is repeated finds the same names, whatever was stored in between.
 */
export function createFamiliesOfTags({ stored, given }: FamilySources): FamiliesOfTags {
  const names = new Map(FAMILY_NAMES.map((name) => [foldFamily(name), name]));
  const wanted = new Set(given.map(foldFamily));
  for (const name of [...stored.filter((one) => isFamilyName(one) || wanted.has(foldFamily(one))), ...given]) {
    const folded = foldFamily(name);
    if (!names.has(folded) && !FILE_WORDS.has(folded)) names.set(folded, name);
  }
  return (tags) => {
    const families: string[] = [];
    for (const tag of tags) {
      const family = names.get(foldFamily(tag));
      if (family !== undefined && !families.includes(family)) families.push(family);
    }
    return families;
  };
}

function isFamilyName(name: string): boolean {
  const folded = foldFamily(name);
  return name.length >= STORED_MIN_LENGTH && !GENERAL_WORDS.has(folded) && !countries().has(folded);
}

/** A list of a hundred thousand names. */
const FILE_MAX_BYTES = 2 ** 20;

/** The names in the file of `--families`, one per line; `#` begins a comment. Null: no file. */
export function readFamilies(path: string | null): string[] {
  if (path === null) return [];
  const names: string[] = [];
  for (const [i, line] of readText(path).split('\n').entries()) {
    const name = line.replace(/#.*/s, '').trim();
    if (name === '') continue;
    const fault = FILE_WORDS.has(foldFamily(name))
      ? 'is a type of file or an architecture, not a family'
      : tagFault(name);
    if (fault !== null) throw badRequest(`${path}, line ${i + 1}: ${JSON.stringify(name)}: ${fault}`);
    names.push(name);
  }
  return names;
}

function readText(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new AppError('not_found', `${path} does not exist: check --families`);
  if (!stats.isFile()) throw badRequest(`${path} is not a file: check --families`);
  if (stats.size > FILE_MAX_BYTES) throw badRequest(`${path} has more than ${FILE_MAX_BYTES} bytes: check --families`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    throw badRequest(`${path} cannot be read as UTF-8 text: ${(error as Error).message}`);
  }
}

function wordsOf(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/,\s*/));
}

let countryNames: ReadonlySet<string> | undefined;

/** In English, folded. Created for the first import: it takes 3 % of the time in which the server starts. */
function countries(): ReadonlySet<string> {
  if (countryNames !== undefined) return countryNames;
  const regions = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const names = letters.flatMap((first) => letters.flatMap((second) => regions.of(first + second) ?? []));
  countryNames = new Set(names.map(foldFamily));
  return countryNames;
}
