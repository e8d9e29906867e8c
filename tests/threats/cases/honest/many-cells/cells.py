# %% bottom
x0 = 0

# %% bottom
x1 = 1

# %% bottom
x2 = 2

# %% bottom
x3 = 3

# %% bottom
x4 = 4

# %% bottom
x5 = 5

# %% bottom
x6 = 6

# %% bottom
x7 = 7

# %% bottom
x8 = 8

# %% bottom
x9 = 9

# %% bottom
x10 = 10

# %% bottom
x11 = 11

# %% bottom
x12 = 12

# %% bottom
x13 = 13

# %% bottom
x14 = 14

# %% bottom
x15 = 15

# %% bottom
x16 = 16

# %% bottom
x17 = 17

# %% bottom
x18 = 18

# %% bottom
x19 = 19

# %% bottom
x20 = 20

# %% bottom
x21 = 21

# %% bottom
x22 = 22

# %% bottom
x23 = 23

# %% bottom
x24 = 24

# %% bottom
x25 = 25

# %% bottom
x26 = 26

# %% bottom
x27 = 27

# %% bottom
x28 = 28

# %% bottom
x29 = 29

# %% bottom
x30 = 30

# %% bottom
x31 = 31

# %% bottom
x32 = 32

# %% bottom
x33 = 33

# %% bottom
x34 = 34

# %% bottom
x35 = 35

# %% bottom
x36 = 36

# %% bottom
x37 = 37

# %% bottom
x38 = 38

# %% bottom
x39 = 39

# %% bottom
x40 = 40

# %% bottom
x41 = 41

# %% bottom
x42 = 42

# %% bottom
x43 = 43

# %% bottom
x44 = 44

# %% bottom
x45 = 45

# %% bottom
x46 = 46

# %% bottom
x47 = 47

# %% bottom
x48 = 48

# %% bottom
x49 = 49

# %% bottom
x50 = 50

# %% bottom
x51 = 51

# %% bottom
x52 = 52

# %% bottom
x53 = 53

# %% bottom
x54 = 54

# %% bottom
x55 = 55

# %% bottom
x56 = 56

# %% bottom
x57 = 57

# %% bottom
x58 = 58

# %% bottom
x59 = 59

# %% bottom
x60 = 60

# %% bottom
x61 = 61

# %% bottom
x62 = 62

# %% bottom
x63 = 63

# %% bottom
x64 = 64

# %% bottom
x65 = 65

# %% bottom
x66 = 66

# %% bottom
x67 = 67

# %% bottom
x68 = 68

# %% bottom
x69 = 69

# %% bottom
x70 = 70

# %% bottom
x71 = 71

# %% bottom
x72 = 72

# %% bottom
x73 = 73

# %% bottom
x74 = 74

# %% bottom
x75 = 75

# %% bottom
x76 = 76

# %% bottom
x77 = 77

# %% bottom
x78 = 78

# %% bottom
x79 = 79

# %% bottom
x80 = 80

# %% bottom
x81 = 81

# %% bottom
x82 = 82

# %% bottom
x83 = 83

# %% bottom
x84 = 84

# %% bottom
x85 = 85

# %% bottom
x86 = 86

# %% bottom
x87 = 87

# %% bottom
x88 = 88

# %% bottom
x89 = 89

# %% bottom
x90 = 90

# %% bottom
x91 = 91

# %% bottom
x92 = 92

# %% bottom
x93 = 93

# %% bottom
x94 = 94

# %% bottom
x95 = 95

# %% bottom
x96 = 96

# %% bottom
x97 = 97

# %% bottom
x98 = 98

# %% bottom
x99 = 99

# %% bottom
x100 = 100

# %% bottom
x101 = 101

# %% bottom
x102 = 102

# %% bottom
x103 = 103

# %% bottom
x104 = 104

# %% bottom
x105 = 105

# %% bottom
x106 = 106

# %% bottom
x107 = 107

# %% bottom
x108 = 108

# %% bottom
x109 = 109

# %% bottom
x110 = 110

# %% bottom
x111 = 111

# %% bottom
x112 = 112

# %% bottom
x113 = 113

# %% bottom
x114 = 114

# %% bottom
x115 = 115

# %% bottom
x116 = 116

# %% bottom
x117 = 117

# %% bottom
x118 = 118

# %% bottom
x119 = 119

# %% bottom
x120 = 120

# %% bottom
x121 = 121

# %% bottom
x122 = 122

# %% bottom
x123 = 123

# %% bottom
x124 = 124

# %% bottom
x125 = 125

# %% bottom
x126 = 126

# %% bottom
x127 = 127

# %% bottom
x128 = 128

# %% bottom
x129 = 129

# %% bottom
x130 = 130

# %% bottom
x131 = 131

# %% bottom
x132 = 132

# %% bottom
x133 = 133

# %% bottom
x134 = 134

# %% bottom
x135 = 135

# %% bottom
x136 = 136

# %% bottom
x137 = 137

# %% bottom
x138 = 138

# %% bottom
x139 = 139

# %% bottom
x140 = 140

# %% bottom
x141 = 141

# %% bottom
x142 = 142

# %% bottom
x143 = 143

# %% bottom
x144 = 144

# %% bottom
x145 = 145

# %% bottom
x146 = 146

# %% bottom
x147 = 147

# %% bottom
x148 = 148

# %% bottom
x149 = 149

# %% bottom
x150 = 150

# %% bottom
x151 = 151

# %% bottom
x152 = 152

# %% bottom
x153 = 153

# %% bottom
x154 = 154

# %% bottom
x155 = 155

# %% bottom
x156 = 156

# %% bottom
x157 = 157

# %% bottom
x158 = 158

# %% bottom
x159 = 159

# %% bottom
x160 = 160

# %% bottom
x161 = 161

# %% bottom
x162 = 162

# %% bottom
x163 = 163

# %% bottom
x164 = 164

# %% bottom
x165 = 165

# %% bottom
x166 = 166

# %% bottom
x167 = 167

# %% bottom
x168 = 168

# %% bottom
x169 = 169

# %% bottom
x170 = 170

# %% bottom
x171 = 171

# %% bottom
x172 = 172

# %% bottom
x173 = 173

# %% bottom
x174 = 174

# %% bottom
x175 = 175

# %% bottom
x176 = 176

# %% bottom
x177 = 177

# %% bottom
x178 = 178

# %% bottom
x179 = 179

# %% bottom
x180 = 180

# %% bottom
x181 = 181

# %% bottom
x182 = 182

# %% bottom
x183 = 183

# %% bottom
x184 = 184

# %% bottom
x185 = 185

# %% bottom
x186 = 186

# %% bottom
x187 = 187

# %% bottom
x188 = 188

# %% bottom
x189 = 189

# %% bottom
x190 = 190

# %% bottom
x191 = 191

# %% bottom
x192 = 192

# %% bottom
x193 = 193

# %% bottom
x194 = 194

# %% bottom
x195 = 195

# %% bottom
x196 = 196

# %% bottom
x197 = 197

# %% bottom
x198 = 198

# %% bottom
x199 = 199

# %% bottom
x200 = 200

# %% bottom
x201 = 201

# %% bottom
x202 = 202

# %% bottom
x203 = 203

# %% bottom
x204 = 204

# %% bottom
x205 = 205

# %% bottom
x206 = 206

# %% bottom
x207 = 207

# %% bottom
x208 = 208

# %% bottom
x209 = 209

# %% bottom
x210 = 210

# %% bottom
x211 = 211

# %% bottom
x212 = 212

# %% bottom
x213 = 213

# %% bottom
x214 = 214

# %% bottom
x215 = 215

# %% bottom
x216 = 216

# %% bottom
x217 = 217

# %% bottom
x218 = 218

# %% bottom
x219 = 219

# %% bottom
x220 = 220

# %% bottom
x221 = 221

# %% bottom
x222 = 222

# %% bottom
x223 = 223

# %% bottom
x224 = 224

# %% bottom
x225 = 225

# %% bottom
x226 = 226

# %% bottom
x227 = 227

# %% bottom
x228 = 228

# %% bottom
x229 = 229

# %% bottom
x230 = 230

# %% bottom
x231 = 231

# %% bottom
x232 = 232

# %% bottom
x233 = 233

# %% bottom
x234 = 234

# %% bottom
x235 = 235

# %% bottom
x236 = 236

# %% bottom
x237 = 237

# %% bottom
x238 = 238

# %% bottom
x239 = 239

# %% bottom
x240 = 240

# %% bottom
x241 = 241

# %% bottom
x242 = 242

# %% bottom
x243 = 243

# %% bottom
x244 = 244

# %% bottom
x245 = 245

# %% bottom
x246 = 246

# %% bottom
x247 = 247

# %% bottom
x248 = 248

# %% bottom
x249 = 249

# %% bottom
x250 = 250

# %% bottom
x251 = 251

# %% bottom
x252 = 252

# %% bottom
x253 = 253

# %% bottom
x254 = 254

# %% bottom
x255 = 255

# %% bottom
x256 = 256

# %% bottom
x257 = 257

# %% bottom
x258 = 258

# %% bottom
x259 = 259

# %% bottom
x260 = 260

# %% bottom
x261 = 261

# %% bottom
x262 = 262

# %% bottom
x263 = 263

# %% bottom
x264 = 264

# %% bottom
x265 = 265

# %% bottom
x266 = 266

# %% bottom
x267 = 267

# %% bottom
x268 = 268

# %% bottom
x269 = 269

# %% bottom
x270 = 270

# %% bottom
x271 = 271

# %% bottom
x272 = 272

# %% bottom
x273 = 273

# %% bottom
x274 = 274

# %% bottom
x275 = 275

# %% bottom
x276 = 276

# %% bottom
x277 = 277

# %% bottom
x278 = 278

# %% bottom
x279 = 279

# %% bottom
x280 = 280

# %% bottom
x281 = 281

# %% bottom
x282 = 282

# %% bottom
x283 = 283

# %% bottom
x284 = 284

# %% bottom
x285 = 285

# %% bottom
x286 = 286

# %% bottom
x287 = 287

# %% bottom
x288 = 288

# %% bottom
x289 = 289

# %% bottom
x290 = 290

# %% bottom
x291 = 291

# %% bottom
x292 = 292

# %% bottom
x293 = 293

# %% bottom
x294 = 294

# %% bottom
x295 = 295

# %% bottom
x296 = 296

# %% bottom
x297 = 297

# %% bottom
x298 = 298

# %% bottom
x299 = 299
